"""What the whole-run tests share."""

from __future__ import annotations

from pathlib import Path

import pytest
from tiny_runs import Run, tiny_job

from ablatable.record.schema import Record
from ablatable.training.run import execute


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One cache for a module: the corpus, its tokenizer and its arrays are made once."""
    return tmp_path_factory.mktemp("cache")


@pytest.fixture
def run(tmp_path: Path, cache: Path) -> Run:
    """Run the tiny experiment with overrides; the folder's parent may be named to have several of the same run."""

    def go(*words: str, root: str = "runs", study: str | None = None) -> tuple[Record, Path]:
        job = tiny_job(tmp_path / root, cache, *words, study=study)
        return execute(job), job.folder

    return go
