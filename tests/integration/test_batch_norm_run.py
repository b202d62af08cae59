"""A whole run whose norms remember statistics: they are part of what is saved, resumed, averaged and scored."""

from typing import Any

import pytest
import torch
from tiny_runs import Run, Stopped, numbers

from ablatable.training import keeper
from ablatable.training.checkpoint import load_weights

WORDS = [
    "model.norm=batch",
    "train.updates=8",
    "train.validate_every=4",
    "train.average_last=2",
    "train.average_every=4",
    "runtime.keep_checkpoints=true",
]


def test_running_statistics_are_resumed_and_averaged(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    whole, folder = run(*WORDS, root="whole")
    save = keeper.Keeper._save

    def save_and_stop(self: keeper.Keeper, *given: Any) -> None:
        save(self, *given)
        raise Stopped

    with monkeypatch.context() as patch:
        patch.setattr(keeper.Keeper, "_save", save_and_stop)
        with pytest.raises(Stopped):
            run(*WORDS, root="stopped")
    resumed, other = run(*WORDS, root="stopped")
    assert numbers(resumed) == numbers(whole)

    evaluated, again = (load_weights(f / "checkpoints" / "evaluated.pt") for f in (folder, other))
    parts = [load_weights(folder / "checkpoints" / f"average-{update}.pt") for update in (4, 8)]
    statistics = [name for name in evaluated if "running" in name]
    assert len(statistics) == 2 * (2 + 3)
    for name in statistics:
        assert torch.equal(evaluated[name], again[name])
        assert not torch.equal(parts[0][name], parts[1][name])
        torch.testing.assert_close(evaluated[name], (parts[0][name] + parts[1][name]) / 2)
