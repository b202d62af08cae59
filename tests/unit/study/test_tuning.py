"""Fair comparison: what a file may ask for, the searches it becomes, which trial wins, what the table says of it."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from ablatable.config.dump import is_active
from ablatable.config.locate import runs_folder
from ablatable.config.schema import Experiment
from ablatable.config.tree import leaves, value_at
from ablatable.errors import InputError
from ablatable.record.schema import Metric, Record
from ablatable.record.store import Store
from ablatable.report import make
from ablatable.report.render import files
from ablatable.study.gather import Gathered, expected, from_results, from_runs
from ablatable.study.load import load_study
from ablatable.study.publish import publish
from ablatable.study.resolve import resolve
from ablatable.study.sweep.samplers import propose, waits_for_results
from ablatable.study.sweep.verdict import verdict
from ablatable.study.tuning.outcome import Searched, check, tune
from ablatable.study.tuning.search import Searches, searches_of
from ablatable.study.tuning.trials import Trial, keep

TEXT = "2291839859fde6eb"
"""The fingerprint of synthetic-copy."""

FACTOR = "train.learning_rate_factor"
STUDY = """\
name: tuned
title: A tuned table
baseline: tested
split: test
tuning: TUNING
columns:
  - {label: h, path: model.heads}
  - {label: PPL, metric: ppl, better: lower}
rows:
  - {name: base}
  - {name: h=1, set: {model.heads: 1}}
  - {name: N=2, set: {model.layers: 2}}
"""
USUAL = "{axes: [train.learning_rate_factor], trials: 3, per: row}"
TESTED = (
    "title: scores the test set\nextends: base\ndata: {corpus: synthetic-copy}\nevaluate: {splits: [valid, test]}\n"
)

Write = Callable[..., None]


@pytest.fixture
def write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Write:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("ABLATABLE_RUNS", raising=False)
    (tmp_path / "ablations").mkdir()
    (tmp_path / "experiments").mkdir()
    (tmp_path / "experiments" / "tested.yaml").write_text(TESTED)

    def make(tuning: str = USUAL, rows: str = "") -> None:
        text = STUDY.replace("TUNING", tuning) + rows
        (tmp_path / "ablations" / "tuned.yaml").write_text(text, encoding="utf-8")

    return make


def searched() -> Searches:
    study = load_study("tuned")
    return searches_of(study, "paper", resolve(study, "paper", 1, lambda _: TEXT), lambda _: TEXT)


def trials(searches: Searches, values: dict[str, list[float | str]]) -> dict[str, list[Trial]]:
    """Trials by search, one a value by row; a word in its place is the state of a trial without one."""
    found: dict[str, list[Trial]] = {}
    for row, listed in values.items():
        search = searches.by_row[row]
        for number, value in enumerate(listed):
            completed = isinstance(value, float)
            found.setdefault(search.name, []).append(
                Trial(
                    search=search.name,
                    row=row,
                    number=number,
                    state="completed" if isinstance(value, float) else value,  # pyright: ignore[reportArgumentType]
                    point={FACTOR: 0.5 + number},
                    value=value if isinstance(value, float) else None,
                    cause=None if completed else "no luck",
                    runs=[],
                    device_seconds=36.0,
                    flops=1e9,
                )
            )
    return found


def outcome(searches: Searches, row: str, *values: float | str) -> Searched:
    search = searches.by_row[row]
    return Searched(search, tuple(trials(searches, {row: list(values)}).get(search.name, ())))


@pytest.mark.parametrize(
    ("tuning", "sentence"),
    [
        ("3", "'tuning' is a mapping, such as {axes:"),
        ("{trials: 3}", "'tuning.axes' is missing"),
        ("{axes: train.warmup, trials: 3}", "'axes' is a list"),
        ("{axes: [], trials: 3}", "'axes' is empty"),
        ("{axes: [train.learning_rate_facto], trials: 3}", "did you mean 'train.learning_rate_factor'?"),
        ("{axes: [train.learning_rate_factor]}", "'tuning.trials' is missing"),
        ("{axes: [train.learning_rate_factor], trials: 0}", "greater than or equal to 1"),
        ("{axes: [train.learning_rate_factor], trials: 3, per: seed}", "'row' or 'study'"),
        ("{axes: [train.learning_rate_factor], trial: 3}", "unknown key 'trial'; did you mean 'trials'?"),
        ("{axes: [train.warmup, train.warmup], trials: 3}", "train.warmup is there twice"),
        ("{axes: [{train.warmup: {low: 9}}], trials: 3}", "'low' and 'high' go together"),
        ("{axes: [{train.warmup: {low: 1, high: 9, when: {model.heads: 1}}}], trials: 3}", "'when' has no use here"),
        ("{axes: [train.updates], trials: 3}", "train.updates can't be tuned: rows would be trained for different"),
        ("{axes: [data.corpus], trials: 3}", "data.corpus can't be tuned: rows would be trained on different text"),
        ("{axes: [evaluate.splits], trials: 3}", "evaluate.splits can't be tuned"),
        ("{axes: [seed], trials: 3}", "can't search the seed"),
        ("{axes: [runtime.threads], trials: 3}", "says how to run, not what"),
        ("{axes: [tokenizer.size], trials: 3}", "say 'objective: bpc' or 'objective: bleu'"),
        ("{axes: [decode.beam], trials: 3}", "decode.beam changes no nll"),
        ("{axes: [train.warmup], trials: 3, objective: flops}", "unknown objective 'flops'"),
        ("{axes: [train.warmup], trials: 3, objective: test.nll}", "unknown objective 'test.nll'"),
        ("{axes: [train.warmup], trials: 3, sampler: {kind: nsga2}}", "the sampler nsga2 tunes no row"),
        ("{axes: [train.warmup], trials: 3, sampler: tpe}", "'sampler' is a mapping"),
        ("{axes: [model.heads], trials: 3}", "row 'h=1' sets 'model.heads', which 'tuning' searches in every row"),
    ],
)
def test_bad_tuning_is_one_sentence_with_its_line(write: Write, tuning: str, sentence: str) -> None:
    write(tuning)
    with pytest.raises(InputError) as refused:
        load_study("tuned")
    assert sentence in str(refused.value)
    assert str(refused.value).startswith("ablations/tuned.yaml:")


def test_every_row_has_the_same_search_and_the_baseline_too(write: Write) -> None:
    write()
    by_row = searched().by_row
    assert list(by_row) == ["base", "h=1", "N=2"]
    first = by_row["base"].plan
    for search in by_row.values():
        assert search.plan.space.parameters == first.space.parameters
        assert (search.plan.sweep.sampler, search.plan.sweep.budget) == (first.sweep.sampler, first.sweep.budget)
        assert (search.asked, search.plan.sweep.budget.trials, search.plan.sweep.pruner.kind) == (3, 3, "none")
    drawn = [propose(search.plan, [], set(), ["minimize"]) for search in by_row.values()]
    assert drawn[0] is not None
    assert all(one == drawn[0] for one in drawn), "rows are searched at the same random points"


def test_trials_score_the_development_data_alone_and_the_final_runs_what_the_experiment_asks(write: Write) -> None:
    write()
    searches = searched()
    for row, search in searches.by_row.items():
        assert search.plan.sweep.objectives[0].key == "valid.nll"
        assert search.plan.ground.experiment({FACTOR: 0.5}).evaluate.splits == ("valid",)
        assert searches.grounds[row].experiment({FACTOR: 0.5}).evaluate.splits == ("valid", "test")


def test_a_value_of_the_test_set_is_no_objective(write: Write, make_record: Any) -> None:
    """The trial that is the better one on the test set alone does not get its value from there."""
    write()
    search = searched().by_row["base"]
    record = make_record(search.plan.ground.experiment({FACTOR: 0.5}), TEXT)
    record = replace(record, metrics={**record.metrics, "test.nll": Metric(0.1, "nats/token")})
    _, values, _ = verdict(search.plan.sweep, "completed", None, [record])
    assert values == [2.3]


def test_a_search_is_known_by_what_it_means(write: Write) -> None:
    """Its name changes with the row, the range and the sampler, and not with the number of trials or the title."""
    names = {}
    for tuning in (
        USUAL,
        USUAL.replace("trials: 3", "trials: 9"),
        "{axes: [{train.learning_rate_factor: {low: 0.1, high: 4.0, log: true}}], trials: 3}",
        USUAL.replace("per: row", "sampler: {kind: tpe, seed: 2}"),
        USUAL.replace("per: row", "objective: bleu"),
    ):
        write(tuning)
        names[tuning] = searched().by_row["base"].name
    first, more, *others = names.values()
    assert first == more
    assert len({first, *others}) == 4
    write()
    assert len({search.name for search in searched().by_row.values()}) == 3


def test_the_name_of_a_search_stays(write: Write) -> None:
    """Published searches are found by it. If this fails, `_VERSION` and a way to read the old ones are needed."""
    write()
    assert searched().by_row["h=1"].name == "tuned-h=1-paper-4d2b654f"


def test_a_long_name_is_cut_and_stays_apart(write: Write) -> None:
    write(rows="".join(f"  - {{name: {'x' * 55}{n}, set: {{model.layers: {n}}}}}\n" for n in (3, 4)))
    names = [search.name for search in searched().by_row.values()]
    assert len(set(names)) == 5
    assert max(map(len, names)) == 60


def test_a_setting_without_a_meaning_in_a_row_is_left_out_there_and_said(write: Write) -> None:
    rows = "  - {name: flat, set: {train.schedule: constant, train.learning_rate: 0.001}}\n"
    write("{axes: [train.learning_rate_factor, train.warmup], trials: 3}", rows)
    search = searched().by_row["flat"]
    assert (search.axes, search.left_out) == (("train.warmup",), (FACTOR,))
    assert searched().by_row["base"].axes == (FACTOR, "train.warmup")
    table = make.table_of("tuned", "paper", None, "runs")
    assert (f"{FACTOR} means nothing in this row and was not searched") in [text for _, text in table.notes]
    write(USUAL, rows)
    with pytest.raises(
        InputError, match=r"row 'flat' has no use for train\.learning_rate_factor: train\.schedule=paper"
    ):
        searched()


def test_rows_with_another_schedule_search_what_means_something_there(write: Write) -> None:
    rows = "  - {name: flat, set: {train.schedule: constant}}\n"
    write("{axes: [train.learning_rate_factor, train.learning_rate], trials: 3}", rows)
    by_row = searched().by_row
    assert by_row["base"].axes == (FACTOR,)
    assert by_row["flat"].axes == ("train.learning_rate",)


def test_the_earliest_of_the_best_wins_when_all_have_ended(write: Write) -> None:
    write()
    searches = searched()
    assert outcome(searches, "base", 3.0, 2.0, 2.0).best == outcome(searches, "base", 3.0, 2.0, 2.0).trials[1]
    early = outcome(searches, "base", 3.0, 2.0)
    assert (early.best, early.lacks) == (None, "not tuned yet: 2 of 3 trials")
    running = outcome(searches, "base", 3.0, 2.0, "running")
    assert (running.best, running.ended) == (None, 2)
    failed = outcome(searches, "base", "failed", 2.0, "failed")
    assert failed.best == failed.trials[1]
    lost = outcome(searches, "base", "failed", "pruned", "failed")
    assert (lost.finished, lost.lacks) == (True, "no trial of its search completed: no luck")


def test_no_row_gets_more_trials_than_another(write: Write) -> None:
    """A row that was searched longer, in an earlier version of the file, has the first of its trials counted."""
    write()
    longer = outcome(searched(), "base", 3.0, 2.5, "skipped", 2.8, 1.0)
    assert [trial.number for trial in longer.counted] == [0, 1, 3]
    assert longer.best == longer.trials[1]


def test_a_score_that_is_to_rise_is_searched_for_the_highest(write: Write) -> None:
    write(USUAL.replace("per: row", "objective: bleu"))
    found = outcome(searched(), "base", 3.0, 9.0, 2.0)
    assert found.best == found.trials[1]


def test_a_small_space_is_searched_to_its_end(write: Write) -> None:
    write("{axes: [{train.learning_rate_factor: {values: [0.5, 1.5]}}], trials: 9, sampler: {kind: grid}}")
    searches = searched()
    assert searches.by_row["base"].asked == 2
    assert outcome(searches, "base", 3.0, 2.0).best is not None
    assert outcome(searches, "base", 3.0).best is None


def test_rows_get_their_settings_and_differ_in_nothing_else(write: Write) -> None:
    write()
    study = load_study("tuned")
    rows = resolve(study, "paper", 2, lambda _: TEXT)
    searches = searched()
    kept = trials(searches, {"base": [3.0, 2.0, 4.0], "h=1": [1.0, 2.0, 3.0], "N=2": [5.0, 6.0]})
    tuned, _ = tune(rows, searches, lambda name: kept.get(name, ()), lambda _: TEXT)
    factors = [row.experiments[0].train.learning_rate_factor for row in tuned]
    assert factors[:2] == [1.5, 0.5]
    assert [(row.tuned.trial, row.tuned.trials) for row in tuned if row.tuned] == [(1, 3), (0, 3)]
    for before, row in zip(rows[:2], tuned[:2], strict=True):
        for one, other in zip(before.experiments, row.experiments, strict=True):
            assert _differing(one, other) == {FACTOR} - ({FACTOR} if value_at(other, FACTOR) == 1.0 else set())
    base, h1 = tuned[0].experiments[0], tuned[1].experiments[0]
    assert _differing(base, h1) == {"model.heads", FACTOR}
    assert tuned[2].awaits == "not tuned yet: 2 of 3 trials"
    assert not set(tuned[2].ids) & {id for row in rows for id in row.ids}, "an open row must not pass for another run"
    assert [experiment.seed for experiment in tuned[0].experiments] == [1, 2]


def _differing(one: Experiment, other: Experiment) -> set[str]:
    return {p for p in leaves() if value_at(one, p) != value_at(other, p) and is_active(other, p)}


def test_one_search_on_the_baseline_serves_all(write: Write) -> None:
    """Rows that set the setting themselves, or have no use for it, keep what they are."""
    rows = (
        "  - {name: half, set: {train.learning_rate_factor: 0.25}}\n  - {name: flat, set: {train.schedule: constant}}\n"
    )
    write(USUAL.replace("per: row", "per: study"), rows)
    study = load_study("tuned")
    searches = searched()
    assert list(searches.by_row) == ["base"]
    kept = trials(searches, {"base": [3.0, 2.0, 4.0]})
    plain = resolve(study, "paper", 1, lambda _: TEXT)
    tuned, found = tune(plain, searches, lambda name: kept.get(name, ()), lambda _: TEXT)
    factors = {row.row.name: row.experiments[0].train.learning_rate_factor for row in tuned}
    assert factors == {"base": 1.5, "h=1": 1.5, "N=2": 1.5, "half": 0.25, "flat": 1.0}
    assert list(found) == ["base"]
    assert tuned[4].tuned is not None
    assert tuned[4].tuned.settings == {}


@pytest.mark.parametrize(
    ("kind", "startup", "number", "waits"),
    [
        ("random", None, 99, False),
        ("grid", None, 99, False),
        ("tpe", None, 9, False),
        ("tpe", None, 10, True),
        ("tpe", 2, 2, True),
        ("gp", 3, 2, False),
    ],
)
def test_which_points_depend_on_results(kind: Any, startup: int | None, number: int, waits: bool) -> None:
    from ablatable.study.sweep.schema import Sampler

    assert waits_for_results(Sampler(kind, startup=startup), number) is waits


@pytest.fixture
def finished(write: Write, make_record: Any) -> Searches:
    """All trials of two rows with their records, and the final runs of both; the third row was never searched."""
    write()
    searches, store = searched(), Store(runs_folder())
    for row, values in {"base": [3.0, 2.0, 4.0], "h=1": [1.0, 2.0, 3.0]}.items():
        search = searches.by_row[row]
        lines: list[Trial] = []
        for trial in trials(searches, {row: list(values)})[search.name]:
            assert trial.value is not None
            record: Record = make_record(search.plan.ground.experiment(trial.point), TEXT)
            record = replace(record, metrics={"valid.nll": Metric(trial.value, "nats/token")})
            store.write_record(record)
            lines.append(replace(trial, runs=[record.id]))
        keep(search.name, lines)
    for planned in expected("tuned", "paper", 1).rows[:2]:
        record = make_record(planned.experiments[0], TEXT)
        record = replace(record, tuned=planned.tuned, metrics={"test.ppl": Metric(9.0, "perplexity/token")})
        store.write_record(record)
    return searches


def test_the_table_says_how_it_was_tuned_and_with_what(finished: Searches) -> None:
    made = make.table_of("tuned", "paper", None, "runs")
    assert made.tuning == "tuned per row, 3 trials"
    written = files(made)
    for name, text in written.items():
        assert "tuned per row, 3 trials" in text, name
    assert [row.settings for row in made.rows] == [("8", "1.5"), ("1", "0.5"), (None, None)]
    assert [text for _, text in made.notes] == [
        f"{FACTOR}=0.5 is the lowest of 3 tried: a lower one may be better",  # of h=1; the base has it in between
        "not tuned yet: 0 of 3 trials",
    ]
    assert "Searches: 6 trials, 0.06 device-hours, 6.00e+09 FLOPs" in written["table.md"]
    assert "lr factor (tuned)" in written["table.html"]


def test_a_table_without_tuning_says_shared_settings(write: Write) -> None:
    write()
    path = Path("ablations/tuned.yaml")
    path.write_text("\n".join(line for line in path.read_text().splitlines() if not line.startswith("tuning")))
    for name, text in files(make.table_of("tuned", "paper", None, "runs")).items():
        assert "shared settings" in text, name


def test_published_trials_give_the_same_table_without_runs(finished: Searches) -> None:
    done = publish("tuned", "paper")
    assert [path.name for path in done.files][:2] == ["records.jsonl", "trials.jsonl"]
    assert "hole: N=2, seed 1: not tuned yet: 0 of 3 trials" in done.remarks
    here = files(make.build(from_runs("tuned", "paper")))
    shutil.rmtree(runs_folder())
    assert files(make.build(from_results("tuned", "paper"))) == here
    assert len(make.check_published("tuned", "paper")) == 4
    again = publish("tuned", "paper")
    assert any("kept as published before" in remark for remark in again.remarks)
    assert files(make.build(from_results("tuned", "paper"))) == here


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (lambda line: line.update(value=0.5), "has valid.nll 3.0 and the trial 0.5"),
        (lambda line: line["records"][0]["metrics"].update({"test.nll": {"value": 1.0, "unit": "", "signature": None}}),
         "scored the test set, and a search selects on development data alone"),
        (lambda line: line.pop("point"), "no trial of a search (point"),
    ],
)  # fmt: skip
def test_published_trials_are_held_to_their_records(
    finished: Searches, change: Callable[[dict[str, Any]], Any], sentence: str
) -> None:
    publish("tuned", "paper")
    path = Path("results/tuned/paper/trials.jsonl")
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    first = next(line for line in lines if line["row"] == "base" and line["number"] == 0)
    change(first)
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    with pytest.raises(InputError) as refused:
        from_results("tuned", "paper")
    assert sentence in str(refused.value)


def test_a_search_in_runs_is_held_to_its_records_too(finished: Searches) -> None:
    gathered: Gathered = from_runs("tuned", "paper")
    found = gathered.searches["base"]
    wrong = Searched(found.search, tuple(replace(trial, value=0.1) for trial in found.trials))
    with pytest.raises(InputError, match=r"has valid\.nll 3\.0 and the trial 0\.1"):
        check(wrong, gathered.trial_records)


def test_plan_and_status_know_the_searches(finished: Searches, invoke: Callable[..., str]) -> None:
    plan = json.loads(invoke("plan", "tuned", "--scale", "paper", "--format", "json"))
    assert plan["tuning"] == "tuned per row, 3 trials"
    assert plan["totals"]["trials"]["runs"] == 9
    assert plan["totals"]["trials_to_do"]["runs"] == 3
    rows = {row["row"]: row for row in plan["rows"]}
    assert rows["base"]["tuned"] == {FACTOR: 1.5}
    assert rows["h=1"]["changes"] == {"model.heads": 1}, "what was searched is not what the row changes"
    assert rows["N=2"]["tuned"] is None
    assert rows["N=2"]["search"]["state"] == "missing"
    text = invoke("plan", "tuned", "--scale", "paper")
    assert "learning_rate_factor=1.5 (trial 1 of 3)" in text
    assert "searches first: 9 trials, 6 ended; to do: 3 trials" in text
    told = json.loads(invoke("status", "tuned", "--scale", "paper", "--format", "json"))
    assert [one["state"] for one in told["searches"]] == ["finished", "finished", "missing"]
    assert "base: finished, 3 of 3 trials; best valid.nll 2 (trial 1)" in invoke("status", "tuned", "--scale", "paper")
