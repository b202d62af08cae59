"""Every table we ship: plans at three scales, changes only what it says, and shares its runs with the others."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from ablatable.config.dump import is_active
from ablatable.config.identity import training_id
from ablatable.config.scale import factors, load_scale
from ablatable.config.schema import Experiment
from ablatable.config.tree import leaves, value_at
from ablatable.study.load import load_study
from ablatable.study.resolve import resolve
from ablatable.study.schema import Row, RowRuns, Study
from ablatable.study.tuning.search import searches_of

REPOSITORY = Path(__file__).resolve().parents[3]
TABLES = sorted(path.stem for path in (REPOSITORY / "ablations").glob("*.yaml"))
SCALES = ("paper", "cpu", "demo")
OWN_BASELINE = {"decoding": ("cpu", "demo"), "extrapolation": SCALES}
"""Tables whose rows have something in common that the plain base has not, and at which scales."""


TUNED = ["norm-tuned"]
"""Tables whose settings are searched first; which runs they have is not known from the file."""
UNTUNED = [table for table in TABLES if table not in TUNED]


@cache
def loaded(table: str) -> Study:
    return load_study(str(REPOSITORY / "ablations" / f"{table}.yaml"))


@cache
def resolved(table: str, scale: str) -> tuple[RowRuns, ...]:
    return tuple(resolve(loaded(table), scale, 1, lambda data: data.corpus))


def trained(row: RowRuns) -> str:
    return training_id(row.experiments[0], row.experiments[0].data.corpus)


def test_the_tables_are_those_of_the_issue() -> None:
    assert TABLES == [
        "architecture", "attention", "decoding", "demo", "dropout", "embedding", "extrapolation", "ffn", "heads",
        "leave-one-out", "mask", "norm", "norm-tuned", "optimiser", "position", "regularisation", "scaling",
        "smoothing", "table3", "tokenizer",
    ]  # fmt: skip


@pytest.mark.parametrize("table", TABLES)
def test_a_table_says_what_it_asks_where_its_values_are_from_and_how_to_read_it(table: str) -> None:
    study = loaded(table)
    assert study.source
    assert study.question
    assert study.question.endswith("?")
    assert study.reading
    assert {row.group for row in study.rows} - {None} == {group.id for group in study.groups}
    for row in study.rows:
        assert row.group is not None or row.label is not None or not row.changes or table == "table3"


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("table", TABLES)
def test_every_table_plans_at_every_scale_and_drops_no_row(
    table: str, scale: str, invoke: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(REPOSITORY)
    plan = json.loads(invoke("plan", table, "--scale", scale, "--format", "json"))
    planned, absent = [row["row"] for row in plan["rows"]], {row["row"]: row["cause"] for row in plan["absent"]}
    assert sorted([*planned, *absent]) == sorted(row.name for row in loaded(table).rows)
    assert all(cause.startswith(f"no such row at scale {scale}, only at ") for cause in absent.values())
    assert len(planned) == plan["totals"]["distinct_runs"]
    assert all(row["seconds"] > 0 or row["trained_by"] for row in plan["rows"])


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("table", TABLES)
def test_a_row_differs_from_its_baseline_only_in_what_it_declares(table: str, scale: str) -> None:
    study = loaded(table)
    rows = resolved(table, scale)
    base = next(row.experiments[0] for row in rows if row.row == study.baseline_row)
    for row in rows:
        experiment = row.experiments[0]
        differing = {path for path in leaves() if value_at(experiment, path) != value_at(base, path)}
        undeclared = differing - set(row.row.changes)
        # What follows: a choice that is switched off goes back to its default, one that is switched on had it.
        assert [p for p in undeclared if is_active(experiment, p) and is_active(base, p)] == [], row.row.name
        assert set(row.row.set) <= differing, row.row.name
        assert _as_declared(row.row, experiment, scale) == [], row.row.name


def _at_paper_size(row: Row) -> Iterator[tuple[str, Any]]:
    yield from row.set.items()


def _as_declared(row: Row, experiment: Experiment, scale: str) -> list[str]:
    """Settings whose value is not the declared one, shrunk where the scale shrinks."""
    shrink = {path: f for factor, f in load_scale(scale).shrink.items() for path in factors()[factor]}
    wanted = {path: int(value) * shrink[path] if path in shrink else value for path, value in _at_paper_size(row)}
    return [path for path, value in (wanted | row.fixed).items() if value_at(experiment, path) != value]


@pytest.mark.parametrize(
    ("scale", "lines", "distinct", "trainings"),
    [("paper", 214, 158, 146), ("cpu", 213, 158, 144), ("demo", 210, 156, 142)],
)
def test_what_tables_have_in_common_is_run_once(scale: str, lines: int, distinct: int, trainings: int) -> None:
    """Counted over all tables: lines, runs (ids), and trainings, which runs of other searches and averages share."""
    every = [row for table in UNTUNED for row in resolved(table, scale)]
    assert len(every) == lines
    assert len({row.ids for row in every}) == distinct
    assert len({trained(row) for row in every}) == trainings


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("table", TUNED)
def test_a_tuned_row_differs_from_its_baseline_only_in_what_it_declares_and_in_tuned_settings(
    table: str, scale: str
) -> None:
    """Whatever the searches find; and every row has the same search."""
    study, plain = loaded(table), list(resolved(table, scale))
    assert study.tuning is not None
    searches = searches_of(study, scale, plain, lambda data: data.corpus)
    assert list(searches.by_row) == [row.row.name for row in plain]
    assert len({(search.axes, search.asked) for search in searches.by_row.values()}) == 1
    points = {name: dict.fromkeys(search.axes, 0.2 + n) for n, (name, search) in enumerate(searches.by_row.items())}
    tuned = {name: searches.grounds[name].experiment(point) for name, point in points.items()}
    base = tuned[study.baseline_row.name]
    for row in plain:
        experiment = tuned[row.row.name]
        differing = {path for path in leaves() if value_at(experiment, path) != value_at(base, path)}
        undeclared = differing - set(row.row.changes) - set(study.tuning.axes)
        assert [p for p in undeclared if is_active(experiment, p) and is_active(base, p)] == [], row.row.name


@pytest.mark.parametrize("scale", SCALES)
def test_the_baseline_is_one_run_in_all_tables_that_have_the_plain_base(scale: str) -> None:
    bases = {table: resolved(table, scale)[0] for table in UNTUNED}
    assert all(row.row == loaded(table).baseline_row for table, row in bases.items())
    plain = {row.ids for table, row in bases.items() if scale not in OWN_BASELINE.get(table, ())}
    assert len(plain) == 1
    others = [row.ids for table, row in bases.items() if scale in OWN_BASELINE.get(table, ())]
    assert len(set(others)) == len(others)
    assert not plain & set(others)


def test_runs_that_many_tables_ask_for() -> None:
    """No dropout, no smoothing and one head are the same runs wherever they stand, whatever the rows are called."""
    asked = Counter(row.ids for table in UNTUNED for row in resolved(table, "demo"))
    rows = {row.row.name: row.ids for table in UNTUNED for row in resolved(table, "demo")}
    wanted = {"base": 17, "one-head": 6, "no-dropout": 4, "no-smoothing": 4, "no-positions": 3}
    assert {
        name: asked[resolved("leave-one-out", "demo")[0].ids if name == "base" else rows[name]] for name in wanted
    } == wanted


@pytest.mark.parametrize("table", [table for table in TABLES if table not in ("table3", "architecture")])
def test_values_of_table_3_are_the_same_wherever_its_rows_stand(table: str) -> None:
    """Rows that are runs of Table 3 show its values and no others, unless they name another work."""
    published = {row.ids: row.row.reported for row in resolved("table3", "paper")}
    for row in resolved(table, "paper"):
        if row.row.reported and row.row.reported_from is None and table != "attention":
            assert row.ids in published, row.row.name
            assert row.row.reported.items() <= published[row.ids].items(), row.row.name


# facts.yaml, reported_elsewhere and table2: row, values, the work's own baseline.
ELSEWHERE: dict[tuple[str, str], tuple[dict[str, float], dict[str, float], str]] = {
    ("position", "shaw"): ({"bleu": 26.8}, {"bleu": 26.5}, "Shaw et al. 2018"),
    ("position", "rope"): ({"bleu": 27.5}, {"bleu": 27.3}, "Su et al. 2021"),
    ("norm", "post-rms"): ({"bleu": 27.14}, {"bleu": 26.62}, "Narang et al. 2021"),
    ("norm", "rezero"): ({"bleu": 26.37}, {"bleu": 26.62}, "Narang et al. 2021"),
    ("norm", "pre-layer"): ({"bleu": 26.83}, {"bleu": 27.58}, "Nguyen & Salazar 2019"),
    ("norm-tuned", "rezero"): ({"bleu": 26.37}, {"bleu": 26.62}, "Narang et al. 2021"),
    ("norm-tuned", "pre"): ({"bleu": 26.83}, {"bleu": 27.58}, "Nguyen & Salazar 2019"),
    ("norm", "post-layer-short"): ({"bleu": 8.45}, {}, "Xiong et al. 2020"),
    ("norm", "pre-layer-short"): ({"bleu": 34.0}, {}, "Xiong et al. 2020"),
    ("attention", "scaled-512"): ({"bleu": 24.9}, {"bleu": 25.8}, "Vaswani et al. 2017, Table 3 (A)"),
}
BRITZ = {"dot": {128: 22.03, 512: 21.78, 1024: 18.22}, "additive": {128: 22.23, 512: 22.47, 1024: 22.10}}
TABLE2 = {
    "base": {"bleu": 27.3, "flops": 3.3e18},
    "big": {"bleu": 28.4, "flops": 2.3e19},
    "lstm": {"bleu": 24.6, "flops": 2.3e19},
    "convolutional": {"bleu": 25.16, "flops": 9.6e18},
}


def test_values_of_other_works_are_marked_by_their_source() -> None:
    marked = {(table, row.name): row for table in TABLES for row in loaded(table).rows if row.reported_from}
    assert marked.keys() == ELSEWHERE.keys()
    for place, (values, base, source) in ELSEWHERE.items():
        row = marked[place]
        assert (row.reported, row.reported_base) == (values, base)
        assert row.reported_from is not None
        assert row.reported_from.startswith(source) or source in row.reported_from


def test_additive_and_dot_have_the_values_of_their_own_source() -> None:
    study = loaded("attention")
    assert study.source is not None
    assert study.source.startswith("Britz et al. 2017")
    for kind, values in BRITZ.items():
        assert {d_k: study.row(f"{kind}-{d_k}").reported["bleu"] for d_k in values} == values
    assert not study.baseline_row.reported, "their baseline is none of ours"


def test_table_2_is_in_units_of_its_columns() -> None:
    study = loaded("architecture")
    unit = next(column.divide_by for column in study.columns if column.metric == "flops")
    found = {
        row.name: {key: value * (unit if key == "flops" else 1) for key, value in row.reported.items()}
        for row in study.rows
        if row.reported
    }
    assert found == {name: pytest.approx(values) for name, values in TABLE2.items()}


def test_rivals_have_the_bases_parameters_and_the_big_model_more() -> None:
    rows = {row.row.name: row.experiments[0] for row in resolved("architecture", "paper")}
    assert all(rows[name].model.rival_width is None for name in ("lstm", "gru", "convolutional", "bag"))
    big = rows["big"]
    assert (big.model.d_model, big.model.heads, big.train.updates) == (1024, 16, 300_000)
    assert [row.name for row in loaded("architecture").absent("demo")] == ["big"]


def test_extrapolation_is_trained_short_at_every_scale_and_scored_beyond() -> None:
    for scale in SCALES:
        for row in resolved("extrapolation", scale):
            experiment = row.experiments[0]
            assert experiment.data.max_length == (60 if row.row.name == "sinusoids-60" else 20)
            assert experiment.evaluate.buckets == ("1-20", "21-30", "31-40", "longer")
    assert {row.model.position for row in (r.experiments[0] for r in resolved("extrapolation", "demo"))} >= {
        "sinusoidal", "learned", "index", "rope", "alibi", "shaw", "t5", "none"
    }  # fmt: skip


@pytest.mark.parametrize("scale", SCALES)
def test_decoding_is_of_one_training_beside_the_running_averages(scale: str) -> None:
    rows = resolved("decoding", scale)
    apart = {trained(row) for row in rows if row.experiments[0].evaluate.checkpoint == "ema"}
    assert len(apart) == 2, "a running average is kept by a training that is asked for it"
    assert len({trained(row) for row in rows} - apart) == 1
    assert len({row.ids for row in rows}) == 15
