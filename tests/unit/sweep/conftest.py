"""A sweep file to spoil, in a folder of its own."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml
from sweep_files import SWEEP, MakeSweep

from ablatable.study.sweep.load import Plan, load_sweep


@pytest.fixture
def sweep(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> MakeSweep:
    """Write `sweeps/s.yaml` with some keys replaced (None: left out), and load it."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "sweeps").mkdir()

    def make(**changes: Any) -> Plan:
        content = {key: value for key, value in {**SWEEP, **changes}.items() if value is not None}
        (tmp_path / "sweeps" / "s.yaml").write_text(yaml.safe_dump(content, sort_keys=False))
        return load_sweep("s")

    return make
