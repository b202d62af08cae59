"""`ablatable translate` over a real (untrained) run: lines in, as many lines out."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from ablatable.cli.main import app
from ablatable.config.data import Data, Tokenizer
from ablatable.config.decoding import Decoding
from ablatable.config.dump import to_yaml
from ablatable.config.model import Model
from ablatable.config.schema import Experiment
from ablatable.errors import InputError
from ablatable.record.lookup import find_run

RUN = "0123456789abcdef"


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """`runs/` with one run whose weights are the initial ones, and the cache its tokenizers are in."""
    from ablatable.data.dataset import prepare
    from ablatable.nn.build import build_model
    from ablatable.training.checkpoint import Checkpoints, save_weights

    home = tmp_path_factory.mktemp("home")
    experiment = Experiment(
        model=Model(layers=1, d_model=16, d_ff=32, heads=2),
        data=Data(corpus="synthetic-reverse", train_pairs=200),
        tokenizer=Tokenizer(size=40),
        decode=Decoding(beam=2, extra_tokens=3),
    )
    data = prepare(experiment, home / "cache")
    model = build_model(experiment.model, data.source_tokenizer.size, data.target_tokenizer.size, 1)
    folder = home / "runs" / RUN
    save_weights(Checkpoints(folder / "checkpoints").evaluated, model.state_dict())
    (folder / "config.yaml").write_text(to_yaml(experiment))
    return home


@pytest.fixture(autouse=True)
def own_folders(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ABLATABLE_RUNS", str(home / "runs"))
    monkeypatch.setenv("ABLATABLE_CACHE", str(home / "cache"))


def translated(text: str | bytes, *options: str) -> list[str]:
    result = CliRunner().invoke(app, ["translate", RUN[:6], "--accelerator", "cpu", *options], input=text)
    assert result.exception is None, result.exception
    assert result.stdout.endswith("\n") or not text
    return result.stdout.split("\n")[:-1]


def test_one_line_out_for_each_line_in():
    lines = ["a b c", "", "b", "  ", "c a"]
    out = translated("".join(f"{line}\n" for line in lines))
    assert len(out) == len(lines)
    assert out[1] == ""
    assert out[3] == ""
    assert all(out[i] for i in (0, 2, 4))


def test_blocks_do_not_change_the_translation():
    text = "a b c\nb\nc a\nb b b b\na\n"
    whole = translated(text)
    assert translated(text, "--lines-at-once", "1") == whole
    assert translated(text, "--lines-at-once", "2") == whole


def test_lines_end_at_line_feeds_only():
    """A last line without one counts, a carriage return goes, other Unicode separators stay in their line."""
    assert len(translated("a\r\nb\u2028c")) == 2
    assert translated("a\r\n") == translated("a\n")
    assert translated("") == []


def test_the_beam_can_be_chosen():
    text = "a b c\nb\nc a\n"
    assert translated(text, "--beam", "2") == translated(text)
    assert len(translated(text, "--beam", "1")) == 3


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--beam", "1", "--length-penalty", "1"], "changes nothing with a beam of 1"),
        (["--accelerator", "cuda"], "no CUDA device"),
    ],
)
def test_options_that_cannot_be_are_refused(options, message):
    import torch

    if "cuda" in options and torch.cuda.is_available():
        pytest.skip("a machine with CUDA does not refuse --accelerator cuda")
    result = CliRunner().invoke(app, ["translate", RUN, *options], input="a\n")
    assert isinstance(result.exception, InputError)
    assert message in str(result.exception)


def test_text_that_is_not_utf8_is_named_by_its_line():
    result = CliRunner().invoke(app, ["translate", RUN, "--accelerator", "cpu"], input=b"a\n\xff\n")
    assert isinstance(result.exception, InputError)
    assert "line 2 of standard input is not UTF-8" in str(result.exception)


def test_a_run_is_found_by_the_beginning_of_its_id(tmp_path: Path):
    for name in ("aa11", "aa22", "bb33"):
        (tmp_path / name).mkdir()
    assert find_run(tmp_path, "b") == tmp_path / "bb33"
    with pytest.raises(InputError, match=r"begins the ids of 2 runs.*aa11, aa22"):
        find_run(tmp_path, "aa")
    for unknown in ("cc", ""):
        with pytest.raises(InputError, match="no run"):
            find_run(tmp_path, unknown)


def test_as_a_process(home: Path):
    """Through the real streams; an unknown run is exit code 2 and one line."""
    command = [sys.executable, "-c", "from ablatable.cli.main import main; main()", "translate"]
    good = subprocess.run([*command, RUN], input=b"a b\nc\n", capture_output=True, env=os.environ)
    assert good.returncode == 0, good.stderr.decode()
    assert good.stdout.decode().count("\n") == 2
    bad = subprocess.run([*command, "ffff"], input=b"", capture_output=True, env=os.environ)
    assert bad.returncode == 2
    assert bad.stderr.decode().startswith("error: no run in ")
    assert bad.stderr.count(b"\n") == 1
