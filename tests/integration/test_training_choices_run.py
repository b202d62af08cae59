"""Whole tiny runs under the choices of the training section: each does what it says and resumes exactly."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from tiny_runs import Run, Stopped, curve, numbers, tiny_job
from torch import Tensor, nn

from ablatable.data.dataset import prepare
from ablatable.record.events import read_events
from ablatable.training import keeper
from ablatable.training.checkpoint import load_weights
from ablatable.training.ema import RunningAverage
from ablatable.training.fit import fit

SHORT = ["train.updates=3", "train.warmup=1", "train.validate_every=1"]
PEAK = "train.learning_rate=1e-3"
NO_NOISE = "model.dropout=0.0"


def trained(tmp_path: Path, cache: Path, *words: str) -> tuple[list[Any], dict[str, Tensor], list[dict[str, Any]]]:
    """Curve, weights and events after three updates, not scored."""
    job = tiny_job(tmp_path / "-".join(words), cache, *SHORT, *words)
    progress = fit(job, prepare(job.experiment, cache))
    weights = torch.load(job.folder / "checkpoints" / "last.ckpt", weights_only=False)["state_dict"]
    return progress.curve, weights, read_events(job.folder / "events.jsonl")


@pytest.mark.parametrize(
    ("words", "beside"),
    [
        (["train.smoothing_mass=others"], []),
        (["train.smoothing_mass=unigram"], []),
        (["train.l1=1e-6"], []),
        (["train.l2=1e-5"], []),
        (["train.weight_decay=0.01"], []),
        (["train.clip_norm=0.1"], []),
        (["train.schedule=constant"], []),
        (["train.schedule=cosine"], ["train.schedule=constant"]),
        (["train.schedule=inverse-sqrt", PEAK], ["train.schedule=constant", PEAK]),
        (["train.schedule=cosine", "train.final_rate=0.2"], ["train.schedule=cosine"]),
        (["train.schedule=constant", "train.learning_rate=1e-3"], ["train.schedule=constant"]),
    ],
    ids=lambda words: " ".join(words) or "base",
)
def test_each_choice_changes_the_updates_and_nothing_else(
    tmp_path: Path, cache: Path, words: list[str], beside: list[str]
) -> None:
    """The first update reads the same text with the same weights: its NLL is the other's to the last bit."""
    curve, weights, events = trained(tmp_path, cache, *words)
    plain_curve, plain_weights, plain_events = trained(tmp_path, cache, *beside)
    assert curve[0].train_nll == plain_curve[0].train_nll
    assert [point.target_tokens for point in curve] == [point.target_tokens for point in plain_curve]
    first, plain_first = (next(one for one in those if one["kind"] == "train") for those in (events, plain_events))
    assert (first["loss"] == plain_first["loss"]) == ("smoothing_mass" not in words[0]), "penalties are not reported"
    assert set(weights) == set(plain_weights)
    assert any(not weights[name].equal(plain_weights[name]) for name in weights)


FULL = ["train.l1=1e-4", "train.l2=1e-2", "train.clip_norm=0.2", "train.weight_decay=0.1", NO_NOISE]


def test_penalties_and_clipping_are_once_an_update_however_it_is_split(run: Run) -> None:
    """OPT-07, and a penalty that were added once a pass would weigh three times as much."""
    one, _ = run(*FULL, root="one")
    several, _ = run(*FULL, "runtime.micro_batches=3", root="several")
    for a, b in zip(curve(one), curve(several), strict=True):
        assert a == pytest.approx(b, abs=2e-5)
    thrice, _ = run("train.l1=3e-4", "train.l2=3e-2", *FULL[2:], root="thrice")
    assert abs((thrice.curve[-1].valid_nll or 0) - (one.curve[-1].valid_nll or 0)) > 1e-3


@pytest.mark.slow
def test_two_ranks_share_penalties_clipping_average_and_patience(run: Run) -> None:
    words = [*FULL, "evaluate.checkpoint=ema", "train.ema_decay=0.9", "train.smoothing_mass=unigram"]
    words += ["train.patience=1", "train.validate_every=4", "train.patience_metric=accuracy"]
    one, _ = run(*words, root="one")
    two, _ = run(*words, "runtime.devices=2", root="two")
    assert (one.id, one.updates, one.cause) == (two.id, two.updates, two.cause)
    for a, b in zip(curve(one), curve(two), strict=True):
        assert a == pytest.approx(b, abs=2e-5)
    assert one.metrics["valid.nll"].value == pytest.approx(two.metrics["valid.nll"].value, abs=1e-4)


def test_the_running_average_of_every_update_is_what_is_scored(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[dict[str, Tensor]] = []
    add = RunningAverage.add

    def noted(self: RunningAverage, model: nn.Module, update: int) -> None:
        add(self, model, update)
        seen.append({name: tensor.double().clone() for name, tensor in model.state_dict().items()})

    with monkeypatch.context() as patch:
        patch.setattr(RunningAverage, "add", noted)
        record, folder = run("evaluate.checkpoint=ema", "train.ema_decay=0.8", "train.accumulate=2")
    assert len(seen) == record.updates == 24
    shares = [0.2 * 0.8 ** (24 - update) / (1 - 0.8**24) for update in range(1, 25)]
    for name, tensor in load_weights(folder / "checkpoints" / "evaluated.pt").items():
        expected = sum(share * state[name] for share, state in zip(shares, seen, strict=True))
        assert isinstance(expected, Tensor)
        torch.testing.assert_close(tensor.double(), expected, rtol=0, atol=1e-6)
    last, _ = run("train.accumulate=2")
    assert curve(record) == curve(last), "training does not know of the average"
    assert record.metrics["valid.nll"].value != pytest.approx(last.metrics["valid.nll"].value, abs=1e-6)


STANDING = ["train.patience=2", "train.validate_every=4", "train.patience_metric=accuracy"]
"""With a rate next to nothing accuracy stands still: the first validation is the best, and two more end the run."""


def test_a_run_that_stops_early_says_so(run: Run) -> None:
    record, folder = run(*STANDING, "train.learning_rate_factor=1e-6")
    assert (record.status, record.updates) == ("completed", 12)
    assert record.cause == "stopped early at update 12 of 24: no better accuracy in 2 validations since update 4"
    events = read_events(folder / "events.jsonl")
    assert (events[-1]["status"], events[-1]["cause"]) == ("completed", record.cause)
    (accuracy,) = {event["accuracy"] for event in events if event["kind"] == "valid"}
    assert 0 <= accuracy < 1
    assert [point.update for point in record.curve] == [4, 8, 12]
    assert "valid.bleu" in record.metrics


def test_a_run_that_goes_on_getting_better_has_no_cause(run: Run) -> None:
    record, _ = run("train.patience=2", "train.validate_every=4", "train.learning_rate_factor=0.1")
    losses = [point.valid_nll or 0 for point in record.curve]
    assert losses == sorted(losses, reverse=True), "the setting of this test: it gets better each time"
    assert (record.updates, record.cause) == (24, None)


def test_an_average_is_of_the_checkpoints_there_are_where_patience_ends_the_run(run: Run) -> None:
    """At update 8 and, because training ends there, at update 12: two of three, and the record says so."""
    averaging = ["train.average_last=3", "train.average_every=8", "runtime.keep_checkpoints=true"]
    record, folder = run(*STANDING, *averaging, "train.learning_rate_factor=1e-6")
    assert (record.updates, record.metrics["averaged_checkpoints"].value) == (12, 2)
    parts = [load_weights(folder / "checkpoints" / f"average-{update}.pt") for update in (8, 12)]
    for name, tensor in load_weights(folder / "checkpoints" / "evaluated.pt").items():
        torch.testing.assert_close(tensor, (parts[0][name] + parts[1][name]) / 2)


def stop_after(saves: int) -> Callable[[keeper.Keeper, Any], None]:
    """Takes the place of ``Keeper._save``."""
    save, done = keeper.Keeper._save, 0

    def save_and_stop(self: keeper.Keeper, trainer: Any) -> None:
        nonlocal done
        save(self, trainer)
        done += 1
        if done == saves:
            raise Stopped

    return save_and_stop


@pytest.mark.parametrize("saves", [1, 2])
@pytest.mark.parametrize(
    "words",
    [
        ["evaluate.checkpoint=ema", "train.ema_decay=0.9", "train.weight_decay=0.1", "train.smoothing_mass=unigram"],
        [*STANDING, "train.learning_rate_factor=1e-6"],
    ],
    ids=["average", "patience"],
)
def test_stopping_and_resuming_is_the_same_run(
    run: Run, monkeypatch: pytest.MonkeyPatch, words: list[str], saves: int
) -> None:
    """TRN-03 for the average of the weights and for the validations already counted."""
    whole, folder = run(*words, root="whole")
    with monkeypatch.context() as patch:
        patch.setattr(keeper.Keeper, "_save", stop_after(saves))
        with pytest.raises(Stopped):
            run(*words, root="stopped")
    resumed, other = run(*words, root="stopped")
    assert numbers(resumed) == numbers(whole)
    weights, others = (load_weights(f / "checkpoints" / "evaluated.pt") for f in (folder, other))
    assert all(weights[name].equal(others[name]) for name in weights)
    assert "resume" in [event["kind"] for event in read_events(other / "events.jsonl")]
