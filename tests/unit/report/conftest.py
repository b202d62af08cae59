from __future__ import annotations

import pytest
from table_bench import Bench


@pytest.fixture
def bench() -> Bench:
    """An empty bench."""
    return Bench()
