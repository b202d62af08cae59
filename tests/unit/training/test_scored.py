"""Which weights are scored, from what training leaves in a folder."""

from pathlib import Path

import pytest
import torch
from torch import Tensor

from ablatable.config.training import Training
from ablatable.training.checkpoint import Checkpoints, save_weights
from ablatable.training.scored import KINDS


def weights(value: float) -> dict[str, Tensor]:
    return {"w": torch.tensor([value])}


def left_by_training(folder: Path) -> Checkpoints:
    """The last weights are 1, the best 2, the running average 3, those kept for averaging 4, 5 and 9."""
    checkpoints = Checkpoints(folder)
    folder.mkdir()
    torch.save({"state_dict": {"model.w": torch.tensor([1.0])}, "ema": weights(3.0)}, checkpoints.last)
    save_weights(checkpoints.best, weights(2.0))
    for update, value in ((8, 4.0), (9, 5.0), (10, 9.0)):
        save_weights(folder / f"average-{update}.pt", weights(value))
    return checkpoints


@pytest.mark.parametrize(
    ("checkpoint", "average_last", "expected"), [("last", 1, 1.0), ("last", 2, 7.0), ("best", 1, 2.0), ("ema", 1, 3.0)]
)
def test_each_choice_is_the_weights_it_names(
    tmp_path: Path, checkpoint: str, average_last: int, expected: float
) -> None:
    checkpoints = left_by_training(tmp_path / "checkpoints")
    found = KINDS[checkpoint](Training(average_last=average_last), checkpoints)
    assert {name: tensor.tolist() for name, tensor in found.items()} == {"w": [expected]}
