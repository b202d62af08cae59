"""What every test may rely on: one thread, no network for W&B, and folders of its own for runs and caches."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import settings

# Before anything imports torch: the workers of one test run share the cores, and one thread is what makes
# floating-point sums repeat.
for variable in ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ.setdefault(variable, "1")
os.environ["WANDB_MODE"] = "offline"
os.environ["WANDB_SILENT"] = "true"
os.environ.pop("WANDB_API_KEY", None)

settings.register_profile("repeatable", deadline=None, derandomize=True, database=None)
settings.register_profile("search", deadline=None, max_examples=1000)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "repeatable"))

REPOSITORY = Path(__file__).resolve().parents[1]


@pytest.fixture(scope="session")
def repository() -> Path:
    """The checkout the tests run in."""
    return REPOSITORY


@pytest.fixture(autouse=True)
def own_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Runs and caches of a test go to its temporary folder: the user's are neither read nor written.

    A test that needs a corpus from the network asks for a shared cache of its own and says so.
    """
    monkeypatch.setenv("ABLATABLE_RUNS", str(tmp_path / "runs"))
    monkeypatch.setenv("ABLATABLE_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("WANDB_DIR", str(tmp_path))
