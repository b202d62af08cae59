"""Whole runs on a tiny task: repeatable, resumable, the same however they are split over passes and devices."""

import json
import math
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import torch
from tiny_runs import TINY, Run, Stopped, curve, numbers

from ablatable.config.load import load_experiment
from ablatable.data.dataset import prepare
from ablatable.errors import InputError, RunFailed
from ablatable.record.events import read_events
from ablatable.record.store import Store
from ablatable.training import keeper
from ablatable.training.checkpoint import load_weights, save_weights
from ablatable.training.load import load_run
from ablatable.training.run import prepare_data


def test_trn_13_the_same_run_twice_is_the_same_to_the_last_bit(run: Run) -> None:
    first, folder = run()
    again, other = run(root="again")
    assert numbers(first) == numbers(again)
    weights, others = (load_weights(f / "checkpoints" / "evaluated.pt") for f in (folder, other))
    assert all(weights[name].equal(others[name]) for name in weights)
    assert (folder / "hypotheses.valid.txt").read_bytes() == (other / "hypotheses.valid.txt").read_bytes()


def test_the_record_says_what_was_done(run: Run) -> None:
    record, folder = run()
    assert record.status == "completed"
    scores = {"nll", "ppl", "bpc", "bleu", "bleu_paper", "chrf", "oov_source", "oov_target"}
    assert set(record.metrics) == {f"valid.{name}" for name in scores} | {"source_vocabulary", "target_vocabulary"}
    assert record.metrics["valid.ppl"].value == pytest.approx(math.exp(record.metrics["valid.nll"].value))
    assert [point.update for point in record.curve] == [8, 16, 24]
    assert record.curve[-1].valid_nll == pytest.approx(record.metrics["valid.nll"].value, abs=1e-5)
    assert record.stamp.deterministic
    assert record.stamp.bleu_signature is not None
    assert "tok:13a" in record.stamp.bleu_signature
    loaded = load_run(folder, folder.parent)  # an empty cache is filled again
    assert record.parameters == sum(parameter.numel() for parameter in loaded.model.parameters())
    assert len((folder / "hypotheses.valid.txt").read_text().splitlines()) == 12
    assert not (folder / "checkpoints" / "last.ckpt").exists()
    assert [event["kind"] for event in read_events(folder / "events.jsonl")][-1] == "finish"


def test_a_finished_run_is_not_repeated(run: Run) -> None:
    record, folder = run()
    before = (folder / "record.json").stat().st_mtime_ns
    again, _ = run()
    assert again == record
    assert (folder / "record.json").stat().st_mtime_ns == before


@pytest.mark.parametrize("saves", [1, 2])
def test_stopping_in_mid_epoch_and_resuming_is_the_same_run(
    run: Run, monkeypatch: pytest.MonkeyPatch, saves: int
) -> None:
    whole, folder = run(root="whole")
    save = keeper.Keeper._save
    done = 0

    def save_and_stop(self: keeper.Keeper, trainer: Any) -> None:
        nonlocal done
        save(self, trainer)
        done += 1
        if done == saves:
            raise Stopped

    with monkeypatch.context() as patch:
        patch.setattr(keeper.Keeper, "_save", save_and_stop)
        with pytest.raises(Stopped):
            run(root="stopped")
    resumed, other = run(root="stopped")
    assert numbers(resumed) == numbers(whole)
    weights, others = (load_weights(f / "checkpoints" / "evaluated.pt") for f in (folder, other))
    assert all(weights[name].equal(others[name]) for name in weights)
    assert "resume" in [event["kind"] for event in read_events(other / "events.jsonl")]


@pytest.mark.parametrize("words", [["runtime.micro_batches=3"], ["train.accumulate=2", "runtime.micro_batches=2"]])
def test_passes_of_an_update_change_nothing_but_rounding(run: Run, words: list[str]) -> None:
    """LOSS-08, OPT-03: the loss is normalised by the tokens of the update, the schedule counts updates."""
    still = ["model.dropout=0.0", *(word for word in words if word.startswith("train."))]
    one, _ = run(*still, root="one")
    several, _ = run(*still, *words[-1:], root="several")
    for a, b in zip(curve(one), curve(several), strict=True):
        assert a == pytest.approx(b, abs=2e-5)


@pytest.mark.slow
def test_two_ranks_are_one_run_with_the_same_losses(run: Run) -> None:
    one, _ = run("model.dropout=0.0", root="one")
    two, folder = run("model.dropout=0.0", "runtime.devices=2", root="two")
    assert one.id == two.id
    for a, b in zip(curve(one), curve(two), strict=True):
        assert a == pytest.approx(b, abs=1e-5)
    for name in ("valid.nll", "valid.ppl"):
        assert one.metrics[name].value == pytest.approx(two.metrics[name].value, abs=1e-4)
    assert two.stamp.devices == 2
    assert [path.name for path in folder.glob("record*.json")] == ["record.json"]
    kinds = [event["kind"] for event in read_events(folder / "events.jsonl")]
    assert kinds.count("valid") == 3
    assert kinds.count("start") == kinds.count("finish") == 1


def test_a_token_budget_ends_a_run_early(run: Run) -> None:
    record, _ = run("train.max_target_tokens=1000")
    assert record.updates < 24
    assert 1000 <= record.target_tokens < 1000 + 256


def test_averaging_evaluates_the_mean_of_the_last(run: Run) -> None:
    record, folder = run("train.average_last=2", "train.average_every=8", "runtime.keep_checkpoints=true")
    kept = sorted(path.name for path in (folder / "checkpoints").glob("average-*.pt"))
    assert kept == ["average-16.pt", "average-24.pt"]
    assert record.metrics["averaged_checkpoints"].value == 2
    parts = [load_weights(folder / "checkpoints" / name) for name in kept]
    evaluated = load_weights(folder / "checkpoints" / "evaluated.pt")
    for name, tensor in evaluated.items():
        torch.testing.assert_close(tensor, (parts[0][name] + parts[1][name]) / 2)
    assert record.metrics["valid.nll"].value != pytest.approx(record.curve[-1].valid_nll or 0, abs=1e-6)


def test_the_best_checkpoint_is_the_one_of_the_lowest_nll(run: Run) -> None:
    record, _ = run("evaluate.checkpoint=best", "train.learning_rate_factor=20", "train.validate_every=4")
    best = min(point.valid_nll for point in record.curve if point.valid_nll is not None)
    assert record.metrics["valid.nll"].value == pytest.approx(best, abs=1e-5)


def test_paired_rows_share_initial_values_and_order(run: Run) -> None:
    base, _ = run("train.updates=1", "train.validate_every=1", root="a")
    row, _ = run("train.updates=1", "train.validate_every=1", "model.dropout=0.0", root="b")
    assert base.curve[0].target_tokens == row.curve[0].target_tokens
    assert base.curve[0].train_nll == pytest.approx(row.curve[0].train_nll or 0, rel=0.2)


@pytest.mark.parametrize(
    "words",
    [
        ["tokenizer.sharing=separate", "model.tying=decoder", "tokenizer.size=40"],
        ["tokenizer.sharing=separate", "model.tying=none", "tokenizer.size=40"],
        ["model.position=learned", "model.position_max=64", "data.max_length=30"],
        ["train.precision=bf16"],
        ["tokenizer.kind=unigram"],
    ],
)
def test_other_choices_train(run: Run, words: list[str]) -> None:
    record, _ = run("train.updates=4", "train.validate_every=4", *words)
    assert record.status == "completed"
    assert math.isfinite(record.metrics["valid.nll"].value)


def test_learned_positions_shorter_than_a_sentence_are_refused_before_training(run: Run, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"model\.position_max=13 is shorter than the longest sentence"):
        run("model.position=learned", "model.position_max=13", "data.max_length=12")
    assert not (tmp_path / "runs").exists() or not list((tmp_path / "runs").glob("*/events.jsonl"))


def test_tracking_off_touches_nothing_and_changes_nothing(run: Run) -> None:
    off, folder = run()
    assert not (folder / "wandb").exists()
    offline, _ = run("tracking.wandb=offline", root="offline")
    assert numbers(off) == numbers(offline)


def history(folder: Path) -> list[dict[str, Any]]:
    """Read an offline W&B run back with W&B's own tool."""
    (file,) = (folder / "wandb").glob("offline-run-*/run-*.wandb")
    tool = shutil.which("wandb", path=str(Path(sys.executable).parent))
    assert tool is not None
    shown = subprocess.run([tool, "leet", "inspect", "--json", str(file)], capture_output=True, text=True, check=True)
    return [json.loads(line) for line in shown.stdout.splitlines() if line.startswith("{")]


def test_an_offline_wandb_run_mirrors_the_ledger(run: Run) -> None:
    record, folder = run("tracking.wandb=offline", study="tiny")
    text = json.dumps(history(folder))
    for part in ('"tiny"', record.id, "valid/nll", "valid/ppl", "train/loss", "valid.bleu", "row/1", "label_smoothing"):
        assert part in text, part


def test_a_stopped_wandb_run_has_its_whole_history_after_resuming(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    save = keeper.Keeper._save

    def save_and_stop(self: keeper.Keeper, trainer: Any) -> None:
        save(self, trainer)
        raise Stopped

    with monkeypatch.context() as patch:
        patch.setattr(keeper.Keeper, "_save", save_and_stop)
        with pytest.raises(Stopped):
            run("tracking.wandb=offline")
    _, folder = run("tracking.wandb=offline")
    text = json.dumps(history(folder))
    losses = [event["nll"] for event in read_events(folder / "events.jsonl") if event["kind"] == "valid"]
    assert len(losses) == 3
    for loss in losses:
        assert str(loss) in text


def test_a_store_that_is_held_refuses_a_second_process(run: Run, tmp_path: Path) -> None:
    record, folder = run()
    (folder / "record.json").unlink()
    with Store(folder.parent).lock(record.id), pytest.raises(RunFailed, match="another process"):
        run()


def test_a_run_made_anew_is_not_scored_with_the_weights_of_the_old_one(run: Run) -> None:
    first, folder = run("train.updates=4")
    (folder / "record.json").unlink()
    evaluated = folder / "checkpoints" / "evaluated.pt"
    save_weights(evaluated, {name: torch.zeros_like(tensor) for name, tensor in load_weights(evaluated).items()})
    again, _ = run("train.updates=4")
    assert numbers(again) == numbers(first)


def stop_after_saving(self: keeper.Keeper, trainer: Any) -> None:
    """Takes the place of Keeper._save."""
    SAVE(self, trainer)
    raise Stopped


SAVE = keeper.Keeper._save


@pytest.mark.parametrize("ranks", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_a_loss_that_is_not_finite_is_a_failed_run_with_its_cause(
    run: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, ranks: int
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(keeper.Keeper, "_save", stop_after_saving)
        with pytest.raises(Stopped):
            run()
    (last,) = tmp_path.glob("runs/*/checkpoints/last.ckpt")
    state = torch.load(last, weights_only=False)
    state["state_dict"] = {name: tensor * math.nan for name, tensor in state["state_dict"].items()}
    torch.save(state, last)
    record, folder = run(f"runtime.devices={ranks}")
    assert record.status == "failed"
    assert record.cause is not None
    assert "the training loss was not finite at or before update 16" in record.cause
    assert read_events(folder / "events.jsonl")[-1]["cause"] == record.cause
    again, _ = run(f"runtime.devices={ranks}")
    assert again.status == "completed", "run again, it starts anew and not from the state that failed"


def test_learned_positions_just_long_enough_are_enough(cache: Path) -> None:
    words = [*TINY, "data.max_length=8", "model.position=learned"]
    dataset = prepare(load_experiment("base", [*TINY, "data.max_length=8"]), cache)
    longest = max(dataset.max_source_length, dataset.max_target_length)
    prepare_data([load_experiment("base", [*words, f"model.position_max={longest}"])], cache)
    with pytest.raises(InputError, match=f"longest sentence of synthetic-copy, {longest} pieces"):
        prepare_data([load_experiment("base", [*words, f"model.position_max={longest - 1}"])], cache)


def test_a_batch_smaller_than_a_sentence_is_refused_before_anything_starts(cache: Path) -> None:
    words = [word for word in TINY if not word.startswith("train.batch_tokens")]
    with pytest.raises(InputError, match=r"train\.batch_tokens=8 is less than the longest sentence"):
        prepare_data([load_experiment("base", [*words, "train.batch_tokens=8"])], cache)
