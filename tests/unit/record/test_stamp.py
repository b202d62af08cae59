from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from ablatable.record import stamp


def _git(folder: Path, *arguments: str) -> None:
    subprocess.run(
        ["git", "-c", "user.name=t", "-c", "user.email=t@example.org", *arguments],
        cwd=folder,
        check=True,
        capture_output=True,
    )


@pytest.fixture
def package(tmp_path: Path) -> Path:
    """A checkout with a package in it, one commit old."""
    folder = tmp_path / "src" / "package"
    (folder / "nn").mkdir(parents=True)
    (folder / "__init__.py").write_text("")
    (folder / "nn" / "model.py").write_text("layers = 6\n")
    (tmp_path / "README.md").write_text("read me\n")
    _git(tmp_path, "init", "-q")
    _git(tmp_path, "add", ".")
    _git(tmp_path, "commit", "-qm", "first")
    return folder


@pytest.fixture(autouse=True)
def fresh_caches() -> None:
    stamp.git_state.cache_clear()
    stamp.code_digest.cache_clear()


def _state(package: Path) -> tuple[str | None, str | None]:
    stamp.git_state.cache_clear()
    return stamp.git_state(package)


def test_a_clean_checkout_has_a_commit_and_no_changes(package: Path) -> None:
    commit, dirty = _state(package)
    assert commit is not None
    assert len(commit) == 40
    assert dirty is None


def test_changes_of_the_code_have_a_digest_and_other_changes_none(package: Path) -> None:
    (package.parents[1] / "README.md").write_text("read me again\n")
    assert _state(package)[1] is None
    (package / "nn" / "model.py").write_text("layers = 2\n")
    changed = _state(package)[1]
    (package / "nn" / "new.py").write_text("x = 1\n")
    with_new_file = _state(package)[1]
    assert changed is not None
    assert with_new_file not in (None, changed)


def test_without_git_there_is_no_commit(tmp_path: Path, package: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    outside = package.parents[1] / "venv" / "site"
    outside.mkdir(parents=True)
    (outside / "__init__.py").write_text("")
    assert _state(outside) == (None, None)  # installed inside somebody's repository, but not tracked by it
    monkeypatch.setenv("PATH", str(tmp_path))
    assert _state(package) == (None, None)


def test_the_code_digest_follows_the_training_code_alone(package: Path) -> None:
    def digest() -> str:
        stamp.code_digest.cache_clear()
        return stamp.code_digest(package)

    first = digest()
    (package / "report").mkdir()
    (package / "report" / "table.py").write_text("x = 1\n")
    assert digest() == first
    (package / "nn" / "model.py").write_text("layers = 2\n")
    assert digest() != first


def test_the_command_line_holds_no_path_of_this_machine(tmp_path: Path) -> None:
    arguments = [
        "/opt/venv/bin/ablatable",
        "train",
        str(tmp_path / "experiments" / "base.yaml"),
        "/elsewhere/x.yaml",
        f"data.files_source_train={tmp_path}/a b.en",
        "seed=1",
    ]
    assert (
        stamp.command_line(arguments, tmp_path)
        == "ablatable train experiments/base.yaml x.yaml 'data.files_source_train=a b.en' seed=1"
    )
    assert stamp.command_line([], tmp_path) == ""


@pytest.mark.parametrize("word", ["{}", "--storage={}"])
def test_the_command_line_holds_no_password(tmp_path: Path, word: str) -> None:
    """A record is published; the URL of a sweep's database has a password in it."""
    url = "postgresql+psycopg://me:s3cret@host/db"
    told = stamp.command_line(["ablatable", "sweep", "run", "s", word.format(url)], tmp_path)
    assert "s3cret" not in told
    assert "me:***@host/db" in told


def test_a_stamp_of_this_process_is_complete_and_needs_no_torch() -> None:
    script = (
        "import sys; from ablatable.record import stamp\n"
        "made = stamp.collect(threads=1, devices=1, corpus='toy', corpus_fingerprint='c',"
        " tokenizer_fingerprint='t',"
        " bleu_signature=None, deterministic=True, started=stamp.utc_now())\n"
        "assert 'torch' not in sys.modules\n"
        "assert made.hardware.cores >= 1 and made.hardware.memory_bytes > 2**20 and made.hardware.cpu\n"
        "assert made.packages['torch'] and made.packages['pydantic']\n"
        "assert len(made.code_digest) == 16 and made.started <= made.finished\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
