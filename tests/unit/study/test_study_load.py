from __future__ import annotations

import re
from pathlib import Path

import pytest

from ablatable.errors import InputError
from ablatable.study.load import load_study, read_study
from ablatable.study.resolve import resolve
from ablatable.study.schema import Row

REPOSITORY = Path(__file__).resolve().parents[3]
STUDIES = sorted((REPOSITORY / "ablations").glob("*.yaml"))


def test_there_are_studies() -> None:
    assert {path.stem for path in STUDIES} >= {"table3", "demo"}


@pytest.mark.parametrize("path", STUDIES, ids=lambda path: path.stem)
def test_every_committed_study_loads(path: Path) -> None:
    study = read_study(path)
    assert study.name == path.stem
    assert study.question
    assert study.reading
    assert not study.baseline_row.set


def test_a_study_is_found_by_name_and_by_path(tiny: Path) -> None:
    by_name, by_path = load_study("tiny"), load_study(str(tiny))
    assert by_name == by_path
    assert [row.name for row in by_name.rows] == ["base", "h=1", "N=2"]
    assert by_name.row("h=1").set == {"model.heads": 1}
    assert by_name.metric_key(by_name.columns[1]) == "valid.ppl"
    assert by_name.default_scale == "paper"


def test_an_unknown_study_names_the_nearest() -> None:
    with pytest.raises(InputError, match="unknown study 'tabel3'; did you mean 'table3'"):
        load_study("tabel3")


FAULTS = [
    ("title: A", "titel: A", "ablations/tiny.yaml:2: unknown key 'titel'; did you mean 'title'"),
    ("better: lower", "beter: lower", "ablations/tiny.yaml:6: unknown key 'beter'; did you mean 'better'"),
    ("group: A", "grup: A", "ablations/tiny.yaml:14: unknown key 'grup'; did you mean 'group'"),
    ("group: A", "group: B", "ablations/tiny.yaml:14: unknown group 'B'"),
    ("{model.heads: 1}", "{model.head: 1}", "tiny.yaml:15: .*'model.head'; did you mean 'model.heads'"),
    ("{model.heads: 1}", "{model: 1}", "ablations/tiny.yaml:15: 'model' is a section"),
    ("{model.heads: 1}", "{model.heads: [1, 2]}", "ablations/tiny.yaml:15: .*a setting is one value"),
    ("{model.heads: 1}", "{model.heads: {a: 2}}", "ablations/tiny.yaml:15: .*a setting is one value"),
    ("{model.heads: 1}", "{seed: 2}", "ablations/tiny.yaml:15: a row can't set the seed"),
    ("{model.heads: 1}", "{runtime.threads: 2}", "ablations/tiny.yaml:15: 'runtime.threads' says how to run"),
    ("{model.heads: 1}", "{model.heads: 1, model.heads: 2}", "ablations/tiny.yaml:15: .*given twice"),
    ("name: N=2", "name: h=1", r"tiny.yaml:16: row 'h=1' is there twice \(first at .*tiny.yaml:13\)"),
    ("name: N=2", "name: N 2", "ablations/tiny.yaml:16: 'rows.2.name': string should match"),
    ("    set: {model.layers: 2}", "", "ablations/tiny.yaml:16: row 'N=2' changes nothing: row 'base'"),
    ("    reported: {", "    set: {model.layers: 3}\n    reported: {", "no row is the baseline"),
    ("metric: ppl", "metric: pll", "ablations/tiny.yaml:6: unknown metric 'pll'; did you mean 'ppl'"),
    ("path: model.heads}", "path: model.head}", "ablations/tiny.yaml:5: .*did you mean 'model.heads'"),
    ("path: model.heads}", "path: model.heads, metric: ppl}", "ablations/tiny.yaml:5: .*either 'path'"),
    ("path: model.heads}", "path: model.heads, better: lower}", "ablations/tiny.yaml:5: .*metric columns"),
    ("label: BLEU", "label: PPL", "ablations/tiny.yaml:7: column 'PPL' is there twice"),
    ("ppl: 4.92", "pll: 4.92", "ablations/tiny.yaml:12: no column shows reported 'pll'; did you mean 'ppl'"),
    ("ppl: 4.92", "ppl: about 5", "tiny.yaml:12: 'rows.0.reported.ppl': .*valid number .got 'about 5'"),
    ("name: tiny", "name: small", "ablations/tiny.yaml:1: name 'small' differs from the file's name"),
    ("title: A small table", "title: 3", "ablations/tiny.yaml:2: 'title': .*valid string .got 3"),
    ("title: A small table\n", "", "ablations/tiny.yaml: 'title' is missing"),
    ("baseline: base", "split: train\nbaseline: base", "ablations/tiny.yaml:3: 'split'"),
    ("groups:\n  - {id: A, label", "groups: {A: 1}\nx:\n  - {id: A, label", "unknown key 'x'"),
    ("  - {id: A, label: \"(A)\"}", "  - A", "ablations/tiny.yaml:9: an entry of 'groups' is a mapping"),
    ("columns:", "columns: {", "ablations/tiny.yaml:.*YAML syntax error"),
]  # fmt: skip


@pytest.mark.parametrize(("right", "wrong", "message"), FAULTS, ids=[wrong[:40] for _, wrong, _ in FAULTS])
def test_bad_studies_name_file_line_and_remedy(tiny: Path, right: str, wrong: str, message: str) -> None:
    text = tiny.read_text(encoding="utf-8")
    assert text.count(right) == 1
    tiny.write_text(text.replace(right, wrong), encoding="utf-8")
    with pytest.raises(InputError, match=message) as caught:
        load_study("tiny")
    assert "\n" not in str(caught.value)


def test_a_section_that_is_no_list_is_named(tiny: Path) -> None:
    tiny.write_text("name: tiny\ntitle: t\nbaseline: base\ncolumns: 3\nrows: []\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"tiny.yaml:4: 'columns' is a list"):
        load_study("tiny")


def test_an_empty_study_is_missing_its_name(tiny: Path) -> None:
    tiny.write_text("", encoding="utf-8")
    with pytest.raises(InputError, match=r"tiny.yaml: '\w+' is missing"):
        load_study("tiny")


def test_a_whole_number_is_a_valid_published_value(tiny: Path) -> None:
    tiny.write_text(tiny.read_text(encoding="utf-8").replace("bleu: 25.8", "bleu: 25"), encoding="utf-8")
    assert load_study("tiny").row("base").reported == {"ppl": 4.92, "bleu": 25.0}


def test_the_examples_of_the_guide_work(tiny: Path) -> None:
    guide = (REPOSITORY / "docs" / "tables.md").read_text(encoding="utf-8")
    row, table, tuning = re.findall(r"```yaml\n(.*?)```", guide, re.DOTALL)
    heads = tiny.parent / "heads.yaml"
    heads.write_text(table, encoding="utf-8")
    assert [row.name for row in resolve_rows(heads)] == ["base", "h=1"]
    longer = tiny.parent / "table3.yaml"
    table3 = (REPOSITORY / "ablations" / "table3.yaml").read_text(encoding="utf-8")
    longer.write_text(table3 + row, encoding="utf-8")
    assert len(resolve_rows(longer)) == 21
    heads.write_text(table + tuning, encoding="utf-8")
    read = read_study(heads).tuning
    assert read is not None
    assert (list(read.axes), read.trials, read.per) == (["train.learning_rate_factor", "train.warmup"], 8, "row")


def resolve_rows(path: Path) -> list[Row]:
    study = read_study(path)
    return [runs.row for runs in resolve(study, "paper", 1, lambda _: None)]
