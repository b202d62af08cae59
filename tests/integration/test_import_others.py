"""`ablatable import` of runs that W&B, Lightning and TensorBoard wrote: what is taken, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import Result
from foreign_logs import log_loggers, log_wandb
from typer.testing import CliRunner

from ablatable.cli.main import app
from ablatable.errors import InputError
from ablatable.record.foreign import ForeignRecord, foreign_records

MAPPED = ("--metric", "valid.nll=val_loss", "--metric", "valid.bleu=100*val_bleu")


@pytest.fixture(scope="module")
def logs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Written once: starting the clients takes seconds, on a busy machine more than ten."""
    folder = tmp_path_factory.mktemp("logs")
    log_loggers(folder)
    return folder


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return log_wandb(tmp_path_factory.mktemp("finished"), "base run")


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("ABLATABLE_RUNS", raising=False)


def do(*words: str | Path) -> Result:
    return CliRunner().invoke(app, [str(word) for word in words], catch_exceptions=False)


def refused(*words: str | Path) -> str:
    """The sentence it is refused with; nothing must have been written."""
    before = foreign_records(Path("runs"))
    with pytest.raises(InputError) as told:
        do("import", *words)
    assert foreign_records(Path("runs")) == before
    assert "\n" not in str(told.value)
    return str(told.value)


def only() -> ForeignRecord:
    (record,) = foreign_records(Path("runs"))
    return record


@pytest.mark.slow
def test_wandb_run_comes_with_its_numbers_settings_curve_and_origin(finished: Path) -> None:
    said = do(
        "import", finished.parent, "--study", "lab", "--row", "base", *MAPPED, "--setting", "model.layers=n_layers"
    )
    record = only()
    assert (record.labels.study, record.labels.row, record.seed, record.status) == ("lab", "base", 3, "completed")
    assert record.metric("valid.nll") == pytest.approx(4 - 0.03 * 39)
    assert record.metric("valid.bleu") == pytest.approx(100 * (0.2 + 0.039))
    assert record.metrics["valid.nll"].unit == "nats/token"
    assert record.config == {"seed": 3, "model": {"layers": 6}}
    assert record.told["optimizer.lr"] == 0.001
    assert [point.update for point in record.curve] == [90, 190, 290, 390], "updates are global_step, not W&B's step"
    assert (record.origin.tool, record.origin.run) == ("wandb", "base run")
    assert str(Path.cwd().parent) not in json.dumps(record.origin.source), "no path of this machine"
    assert "train_loss" in said.stdout, "what has no name of ours is told"
    again = do("import", finished, "--study", "lab", "--row", "base", *MAPPED, "--setting", "model.layers=n_layers")
    assert "imported already as lab/base, seed 3" in again.stdout
    assert "nothing new" in again.stdout


@pytest.mark.slow
def test_wandb_run_that_was_killed_is_taken_only_when_that_is_asked_for(tmp_path: Path) -> None:
    killed = log_wandb(tmp_path / "logs", "killed", "kill")
    words = (killed, "--study", "lab", "--row", "base", *MAPPED)
    assert "not whole" in refused(*words)
    do("import", *words, "--unfinished")
    assert only().status == "interrupted"
    assert only().metric("valid.nll") == pytest.approx(4 - 0.03 * 39), "all but the last fraction of a second is there"


@pytest.mark.slow
def test_damaged_wandb_files_are_refused_in_one_sentence(finished: Path, tmp_path: Path) -> None:
    whole = finished.read_bytes()
    words = ("--study", "lab", "--row", "base", *MAPPED)
    for name, content, sentence in (
        ("hole", whole[:4000] + b"\xff" * 60 + whole[4060:], "is damaged"),
        ("head", b"xxxx" + whole[4:], "can't be read by W&B's own tool"),
        ("text", b"hello", "holds no run"),
        ("empty", b"", "holds no run"),
        ("cut", whole[: len(whole) // 2], "not whole"),
    ):
        path = tmp_path / f"{name}.wandb"
        path.write_bytes(content)
        assert sentence in refused(path, *words), name


@pytest.mark.slow
def test_numbers_without_a_known_name_are_listed_with_the_way_to_map_them(finished: Path) -> None:
    words = (finished, "--study", "lab", "--row", "base")
    assert "--metric valid.nll=" not in refused(*words, "--metric", "valid.bleu=val_bleu")
    assert "100*val_bleu" in refused(*words, "--metric", "valid.bleu=val_bleu"), "a fraction is no BLEU"
    assert "did you mean 'val_loss'" in refused(*words, "--metric", "valid.nll=val_los")
    assert "did you mean 'valid.nll'" in refused(*words, "--metric", "valid.nl=val_loss")
    assert "did you mean 'model.layers'" in refused(*words, *MAPPED, "--setting", "model.layer=n_layers")
    assert "n_layers" in refused(*words, *MAPPED, "--setting", "model.layers=layers")


def test_loss_alone_has_no_meaning_here(tmp_path: Path) -> None:
    (tmp_path / "metrics.csv").write_text("step,val_loss\n1,3.5\n", encoding="utf-8")
    sentence = refused("metrics.csv", "--study", "lab", "--row", "a", "--seed", "1")
    assert "--metric valid.nll=val_loss" in sentence
    assert "it has val_loss" in sentence


@pytest.mark.slow
def test_changed_source_and_taken_label_are_refused_with_the_remedy(logs: Path, tmp_path: Path) -> None:
    source = tmp_path / "exp"
    source.mkdir()
    text = (logs / "csv/exp/version_0/metrics.csv").read_text(encoding="utf-8")
    (source / "metrics.csv").write_text(text, encoding="utf-8")
    do("import", source, "--study", "lab", "--row", "a", "--seed", "1")
    assert "can't be two of a table" in refused(source, "--study", "lab", "--row", "b", "--seed", "1")
    (source / "metrics.csv").write_text(text.replace("3.1", "2.9"), encoding="utf-8")
    sentence = refused(source, "--study", "lab", "--row", "a", "--seed", "1")
    assert "its source has changed since" in sentence
    assert f"move runs/{only().id} away" in sentence
    other = (logs / "tb/run", "--study", "lab", "--row", "a", "--seed", "1")
    assert "from Lightning's CSVLogger (exp)" in refused(*other)


@pytest.mark.slow
def test_many_runs_come_by_a_mapping_file_all_or_none(logs: Path, tmp_path: Path) -> None:
    words = (logs / "csv", "--study", "lab")
    assert "2 runs (exp/version_0, exp/version_1)" in refused(*words, "--row", "a")
    mapping = tmp_path / "map.yaml"
    mapping.write_text(
        "study: lab\nsettings: {model.layers: layers}\n"
        "runs:\n  exp/version_0: {row: a}\n  exp/version_1: {row: b, sed: 2}\n",
        encoding="utf-8",
    )
    assert "map.yaml:5: unknown key 'sed'; did you mean 'seed'?" in refused(logs / "csv", "--map", mapping)
    mapping.write_text(mapping.read_text(encoding="utf-8").replace("sed: 2", "seed: 7"), encoding="utf-8")
    do("import", logs / "csv", "--map", mapping)
    found = {record.labels.row: record for record in foreign_records(Path("runs"))}
    assert {row: record.seed for row, record in found.items()} == {"a": 1, "b": 7}, (
        "the seed is told where nobody says it"
    )
    assert found["b"].metric("valid.nll") == pytest.approx(4.1)
    assert found["a"].config["model"] == {"layers": 6}
    mapping.write_text("study: lab\nruns:\n  exp/version_0: {row: c, seed: 1}\n  exp/version_9: {row: d, seed: 1}\n")
    assert "no run is called 'exp/version_9'" in refused(logs / "csv", "--map", mapping)


def test_csv_files_that_are_not_whole_or_have_no_such_numbers_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "metrics.csv"
    words = ("metrics.csv", "--study", "lab", "--row", "a", "--seed", "1")
    for text, sentence in (
        ("step,val_nll,val_bleu\n1,3.5,10\n2,3.4\n", "metrics.csv:3: 2 values under 3 names"),
        ("", "holds no measurement"),
        ("step,val_nll\n", "holds no measurement"),
        ("step,val_nll\n1,nan\n", "ends as nan"),
        ("step,val_ppl\n1,0\n", "a perplexity is at least 1"),
        ("step,val_bleu\n1,0.27\n", "--metric valid.bleu=100*val_bleu"),
    ):
        path.write_text(text, encoding="utf-8")
        assert sentence in refused(*words)


@pytest.mark.slow
def test_tensorboard_files_give_their_curve_and_tell_where_they_were_cut(logs: Path, tmp_path: Path) -> None:
    words = ("--study", "lab", "--row", "a", "--seed", "1")
    (tmp_path / "cut").mkdir()
    (events,) = (logs / "tb/run").iterdir()
    (tmp_path / "cut" / events.name).write_bytes(events.read_bytes()[:-7])
    assert "cut off or damaged" in refused(tmp_path / "cut", *words)
    do("import", logs / "tb", *words)
    record = only()
    assert record.metric("valid.ppl") == pytest.approx(11.0)
    assert len(record.curve) == 20
    assert record.updates == 1900


def test_folder_of_nothing_and_no_folder_are_refused(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    assert "holds no runs" in refused("empty", "--study", "lab", "--row", "a")
    assert "no such file" in refused("nowhere")
