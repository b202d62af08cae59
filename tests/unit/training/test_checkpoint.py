"""Averaging, retention and damage."""

import os
from pathlib import Path

import pytest
import torch

from ablatable.errors import InputError, RunFailed
from ablatable.training.checkpoint import Checkpoints, average, load_weights, save_weights


def test_trn_09_tied_names_are_averaged_once_and_in_float(tmp_path: Path) -> None:
    for number, values in enumerate(([1.0, 2.0], [3.0, 6.0])):
        shared = torch.tensor(values)
        save_weights(tmp_path / f"{number}.pt", {"embedding": shared, "output": shared})
    mean = average([tmp_path / "0.pt", tmp_path / "1.pt"])
    assert mean["embedding"].tolist() == mean["output"].tolist() == [2.0, 4.0]


def test_trn_09_many_large_values_do_not_overflow(tmp_path: Path) -> None:
    paths = [tmp_path / f"{number}.pt" for number in range(20)]
    for path in paths:
        save_weights(path, {"w": torch.tensor([4000.0], dtype=torch.float16)})
    assert average(paths)["w"].tolist() == [4000.0]


def test_trn_10_the_last_are_those_of_the_latest_updates(tmp_path: Path) -> None:
    checkpoints = Checkpoints(tmp_path)
    for update in (8, 9, 10, 11, 100):
        save_weights(tmp_path / f"average-{update}.pt", {"w": torch.zeros(1)})
    assert [path.name for path in checkpoints.numbered()[-3:]] == [
        "average-10.pt",
        "average-11.pt",
        "average-100.pt",
    ]
    checkpoints.keep_for_average({"w": torch.zeros(1)}, 101, last=2)
    assert [path.name for path in checkpoints.numbered()] == ["average-100.pt", "average-101.pt"]


def test_a_damaged_or_missing_file_is_named(tmp_path: Path) -> None:
    path = tmp_path / "best.pt"
    with pytest.raises(InputError, match=r"best\.pt is missing"):
        load_weights(path)
    path.write_bytes(b"PK not a checkpoint")
    with pytest.raises(InputError, match=r"best\.pt is damaged"):
        load_weights(path)


def test_a_kept_tensor_does_not_follow_training(tmp_path: Path) -> None:
    weights = {"w": torch.zeros(2)}
    save_weights(tmp_path / "a.pt", weights)
    weights["w"] += 1
    assert load_weights(tmp_path / "a.pt")["w"].tolist() == [0.0, 0.0]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a disk that is always full")
def test_a_full_disk_is_one_sentence_while_weights_are_saved(tmp_path: Path) -> None:
    """torch.save into a path answers a full disk with a RuntimeError about a zip file."""
    (tmp_path / f".best.pt.{os.getpid()}.tmp").symlink_to("/dev/full")
    with pytest.raises(RunFailed, match=r"the disk is full: .*best\.pt could not be written"):
        save_weights(tmp_path / "best.pt", {"w": torch.zeros(100_000)})
    assert not (tmp_path / "best.pt").exists()


def test_what_a_killed_attempt_wrote_after_its_checkpoint_is_not_used(tmp_path: Path) -> None:
    checkpoints = Checkpoints(tmp_path)
    names = ["average-8.pt", "average-16.pt", "average-24.pt", "best.pt", "evaluated.pt", "last.ckpt"]
    for name in names:
        (tmp_path / name).touch()
    checkpoints.rewind(16)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["average-16.pt", "average-8.pt", "best.pt", "last.ckpt"]
    checkpoints.rewind(0)
    assert [path.name for path in tmp_path.iterdir()] == ["last.ckpt"]
