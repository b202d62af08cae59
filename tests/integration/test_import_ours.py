"""`ablatable import` of runs of ours: two machines' runs in one table, checked, and honest about what did not come."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import Result
from tiny_runs import Run
from typer.testing import CliRunner

from ablatable.cli.main import app
from ablatable.errors import InputError
from ablatable.record.foreign import foreign_records, origin_of
from ablatable.record.schema import Record
from ablatable.record.store import Store
from ablatable.study.records_file import write_records

There = tuple[Record, Path]


@pytest.fixture
def there(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> There:
    """A run of another machine, and this one's folder beside that."""
    record, folder = run(root="there")
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    monkeypatch.delenv("ABLATABLE_RUNS", raising=False)
    return record, folder


def do(*words: str | Path) -> Result:
    return CliRunner().invoke(app, [str(word) for word in words], catch_exceptions=False)


def refused(*words: str | Path) -> str:
    with pytest.raises(InputError) as told:
        do(*words)
    return str(told.value)


def test_runs_folder_comes_as_ordinary_runs_with_translations_and_origin(there: There) -> None:
    record, folder = there
    assert record.id in do("import", folder.parent).stdout
    store = Store(Path("runs"))
    assert store.read(record.id) == record
    assert store.status(record.id).state == "completed"
    here = store.folder(record.id)
    assert (here / "hypotheses.valid.txt").read_bytes() == (folder / "hypotheses.valid.txt").read_bytes()
    origin = origin_of(here)
    assert origin is not None
    assert (origin.tool, origin.source) == ("ablatable", "there")
    listed = json.loads(do("runs", "--columns", "id,status,origin", "--format", "json").stdout)["runs"]
    assert listed == [{"id": record.id, "status": "completed", "origin": "there"}]
    assert "here already" in do("import", folder.parent).stdout
    for command in (("translate", record.id[:6]), ("analyse", "attention", record.id[:6], "--index", "1")):
        assert "imported from there without its weights" in refused(*command)
    assert "rebuild it there" in refused("wandb", "rebuild", record.id)


def test_published_records_are_checked_before_any_is_taken(there: There) -> None:
    record, _ = there
    write_records(Path("records.jsonl"), [record])
    content = json.loads(Path("records.jsonl").read_text(encoding="utf-8"))
    content["config"]["model"]["heads"] = 2
    Path("edited.jsonl").write_text(json.dumps(content), encoding="utf-8")
    assert f"run {record.id} is not what its id says" in refused("import", "edited.jsonl")
    assert "say themselves what they are" in refused("import", "records.jsonl", "--study", "mine")
    assert Store(Path("runs")).records() == []
    assert "took 1 run of ours" in do("import", "records.jsonl").stdout
    assert Store(Path("runs")).records() == [record]


@pytest.mark.parametrize("place", ["results", "results/mine", "results/mine/cpu", "results/mine/cpu/records.jsonl"])
def test_published_records_by_any_folder_above_them(there: There, place: str) -> None:
    record, _ = there
    write_records(Path("results/mine/cpu/records.jsonl"), [record])
    assert "took 1 run of ours" in do("import", place).stdout
    assert Store(Path("runs")).records() == [record]


def test_what_was_begun_or_failed_here_is_left_with_the_remedy(there: There) -> None:
    record, folder = there
    begun = Path("runs", record.id)
    begun.mkdir(parents=True)
    (begun / "events.jsonl").write_bytes((folder / "events.jsonl").read_bytes()[:200])
    before = (begun / "events.jsonl").read_bytes()
    said = do("import", folder.parent).stdout
    assert f"interrupted here, which stays; move {begun} away" in said
    assert Store(Path("runs")).read(record.id) is None
    assert (begun / "events.jsonl").read_bytes() == before


@pytest.mark.slow
def test_wandb_mirror_of_a_run_of_ours_is_the_record_where_that_is_there(run: Run, tmp_path: Path) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("WANDB_MODE", raising=False)
        record, folder = run("tracking.wandb=offline", root="there")
        (tmp_path / "here").mkdir()
        patch.chdir(tmp_path / "here")
        patch.delenv("ABLATABLE_RUNS", raising=False)
        assert "took 1 run of ours" in do("import", folder / "wandb").stdout
        (folder / "record.json").unlink()
        do("import", folder / "wandb", "--study", "lab", "--row", "copy")
        (copy,) = foreign_records(Path("runs"))
    assert copy.metric("valid.nll") == pytest.approx(record.metric("valid.nll")), (
        "the summary's, of the evaluated weights"
    )
    assert [(p.update, p.valid_nll) for p in copy.curve] == [(p.update, p.valid_nll) for p in record.curve]
    assert copy.config["model"]["heads"] == 4, "settings under our own names need no mapping"
