"""`ablatable complexity`: measured once, resumed, redrawn, refused."""

import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from ablatable.analysis.complexity import make
from ablatable.analysis.complexity.measure import measure
from ablatable.analysis.complexity.measurements import FILE, read, sole_writer
from ablatable.analysis.complexity.render import RENDERERS, text
from ablatable.analysis.complexity.settings import Settings
from ablatable.analysis.complexity.sheets import sheets
from ablatable.analysis.complexity.theory import LAYERS, PAPER
from ablatable.cli.complexity import complexity
from ablatable.errors import InputError

TINY = Settings(
    rounds=2,
    sample_seconds=0.0001,
    along_n=(32, 64, 96, 128, 160),
    at_d=64,
    along_d=(64, 128),
    at_n=64,
    count_at_n=32,
    crossing={64: (32, 64)},
    path_lengths=(2, 5),
)
FILES = ["complexity.png", "complexity.svg", FILE, "table.csv", "table.json", "table.md"]


def quiet(about: str, done: int, expected: int) -> None:
    """No progress."""


@pytest.fixture(scope="module")
def measured(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("complexity")
    make.write(measure(TINY, folder, quiet), folder)
    return folder


def test_everything_is_written_and_is_a_function_of_the_measurements(measured: Path, tmp_path: Path) -> None:
    assert sorted(path.name for path in measured.iterdir()) == FILES
    (tmp_path / FILE).write_bytes((measured / FILE).read_bytes())
    complexity(output=tmp_path, redraw=True, format="text")
    for name in FILES:
        assert (tmp_path / name).read_bytes() == (measured / name).read_bytes(), name


def test_the_table_stands_beside_the_papers(measured: Path) -> None:
    summary, _ = make.write(make.finished(measured), measured)
    shown = text(summary, 150)
    for row in PAPER.values():
        assert row.complexity in shown
        assert row.path in shown
    for layer in LAYERS.values():
        assert layer.title in shown
        assert layer.formula in shown
    for sheet in sheets(summary):
        assert all(len(row) == len(sheet.heads) for row in sheet.rows)
    assert all(one.equal == one.measured > 0 for one in summary.paths)
    assert all(one.operations_equal == one.steps_equal == one.points for one in summary.counts)
    counted = [
        power for power in summary.powers if (power.quantity, power.along) == ("operations", "n") and power.theory
    ]
    assert len(counted) == 6
    assert all(one.holds for one in counted)
    read_again = json.loads(RENDERERS["json"](summary))
    assert len(read_again["powers"]) == 5 * len(LAYERS)
    assert len(RENDERERS["csv"](summary).splitlines()) == 1 + 5 * len(LAYERS)


def test_a_killed_run_goes_on_where_it_was(measured: Path, tmp_path: Path) -> None:
    """Cut in the middle of a line: what was whole stays as it is, the rest is made once."""
    lines = (measured / FILE).read_bytes().splitlines(keepends=True)
    kept = b"".join(lines[: len(lines) // 2])
    (tmp_path / FILE).write_bytes(kept + lines[len(lines) // 2][:25])
    shown: list[tuple[int, int]] = []
    made = measure(TINY, tmp_path, lambda _, done, expected: shown.append((done, expected)))
    assert (tmp_path / FILE).read_bytes().startswith(kept)
    assert len((tmp_path / FILE).read_bytes().splitlines()) == len(lines)
    assert shown[0] == (len(lines) // 2, len(lines) - 1)
    assert shown[-1] == (len(lines) - 1, len(lines) - 1)
    again: list[int] = []
    assert measure(TINY, tmp_path, lambda _, done, __: again.append(done)) == made
    assert not again
    whole = make.finished(measured)
    assert (made.counts, made.memory, made.paths) == (whole.counts, whole.memory, whole.paths)
    assert {point: set(rounds) for point, rounds in made.samples.items()} == {p: {0, 1} for p in TINY.points()}


def test_other_settings_do_not_mix(measured: Path) -> None:
    before = (measured / FILE).read_bytes()
    with pytest.raises(InputError, match=r"measured with other settings \(rounds, window\); choose another folder"):
        measure(replace(TINY, rounds=3, window=33), measured, quiet)
    assert (measured / FILE).read_bytes() == before


def test_another_machine_does_not_mix(measured: Path, tmp_path: Path) -> None:
    first, rest = (measured / FILE).read_text().split("\n", 1)
    begin = json.loads(first)
    begin["machine"]["torch"] = "1.0"
    (tmp_path / FILE).write_text(json.dumps(begin) + "\n" + rest)
    with pytest.raises(InputError, match=rf"measured with torch 1\.0, here it is {torch.__version__[:4]}"):
        measure(TINY, tmp_path, quiet)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ('{"kind": "begin"}\n', r"does not hold measurements of `ablatable complexity` \(KeyError"),
        ('{"kind": "train", "loss": 3}\n', "does not hold measurements"),
        ("hello\n", "line 1, is not an event"),
        ('{"kind": "begin", "settings": {"threads": "two"}, "machine": {}}\n', "does not hold measurements"),
    ],
)
def test_a_file_of_something_else_is_refused_and_left_alone(content: str, said: str, tmp_path: Path) -> None:
    (tmp_path / FILE).write_text(content)
    with pytest.raises(InputError, match=said):
        measure(TINY, tmp_path, quiet)
    assert (tmp_path / FILE).read_text() == content


def test_an_unknown_line_is_refused(measured: Path, tmp_path: Path) -> None:
    (tmp_path / FILE).write_bytes((measured / FILE).read_bytes() + b'{"kind": "surprise"}\n')
    with pytest.raises(InputError, match="a line of kind 'surprise'"):
        read(tmp_path / FILE)


def test_two_at_once_are_refused(tmp_path: Path) -> None:
    with sole_writer(tmp_path / FILE), pytest.raises(InputError, match="being written by another process"):
        measure(TINY, tmp_path, quiet)


def test_a_place_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match=r"cannot write .*choose another folder with --output"):
        measure(TINY, tmp_path / "file" / "in", quiet)


def test_more_threads_than_cores_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"--threads 9999: this process may use \d+ cores"):
        complexity(output=tmp_path, threads=9999)
    assert not list(tmp_path.iterdir())


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a CUDA device here")
def test_a_device_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="--device cuda: PyTorch sees no CUDA device here"):
        complexity(output=tmp_path, device="cuda")


def test_redrawing_needs_all_measurements_and_makes_none(measured: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no measurements to draw; run without --redraw"):
        complexity(output=tmp_path, redraw=True)
    (tmp_path / FILE).write_bytes(b"".join((measured / FILE).read_bytes().splitlines(keepends=True)[:-3]))
    with pytest.raises(InputError, match=r"holds (\d+) of (\d+) measurements; run without --redraw"):
        complexity(output=tmp_path, redraw=True)
    with pytest.raises(InputError, match="--redraw measures nothing: leave out --quick"):
        complexity(output=tmp_path, redraw=True, quick=True)


def test_bad_input_is_one_sentence_and_two(tmp_path: Path) -> None:
    command = [sys.executable, "-c", "from ablatable.cli.main import main; main()", "complexity"]
    wrong = subprocess.run(
        [*command, "--redraw", "--output", str(tmp_path)], capture_output=True, text=True, env=os.environ, timeout=120
    )
    assert (wrong.returncode, wrong.stdout) == (2, "")
    assert wrong.stderr.startswith("error: ")
    assert len(wrong.stderr.splitlines()) == 1


@pytest.mark.slow
def test_quick_measures_from_the_command_line(tmp_path: Path) -> None:
    command = [sys.executable, "-c", "from ablatable.cli.main import main; main()", "complexity", "--quick"]
    made = subprocess.run(
        [*command, "--backward", "--format", "json", "--output", str(tmp_path)],
        capture_output=True,
        text=True,
        env=os.environ,
        timeout=600,
    )
    assert made.returncode == 0, made.stderr
    assert json.loads(made.stdout)["settings"]["backward"] is True
    assert made.stderr.splitlines()[-1].startswith("time, round 3 of 3: ")
    assert all("of" in line for line in made.stderr.splitlines())  # progress and nothing else, no warning of a library
    assert sorted(path.name for path in tmp_path.iterdir()) == FILES
