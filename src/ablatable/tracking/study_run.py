"""A study in Weights & Biases: one run beside those of its rows, which shows the table."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ablatable.config.runtime import Tracking
from ablatable.record.files import write_atomic
from ablatable.tracking.wandb_run import staged_in, start

Value = str | float | int | bool | None


@dataclass(frozen=True)
class Tabled:
    """A finished table as plain data. ``files`` are its renderings, by file name."""

    study: str
    scale: str
    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[Value]]
    files: Mapping[str, str]

    @property
    def id(self) -> str:
        """The same for the same table, so that showing it twice makes no second run."""
        said = json.dumps([self.study, self.scale, list(self.columns), [list(row) for row in self.rows]])
        return f"table-{hashlib.sha256(said.encode()).hexdigest()[:10]}"


def log_table(table: Tabled, tracking: Tracking, root: Path) -> Path:
    """Show a table as a run of job type ``table`` in the study's group, with its files as an artifact.

    Returns:
        The folder of the run, in a folder under ``root`` of its own; ``wandb sync`` takes it where it is offline.
    """
    import wandb

    folder = root / table.id
    shutil.rmtree(folder, ignore_errors=True)
    run = start(
        tracking,
        dir=folder,
        id=table.id,
        name=f"{table.study} at scale {table.scale}",
        group=table.study,
        job_type="table",
        tags=[table.scale],
        notes=table.title,
        config={"run": {"study": table.study, "scale": table.scale}},
        resume="allow" if tracking.wandb == "online" else None,
    )
    with staged_in(folder / "wandb"):
        shown: dict[str, Any] = {"table": _table(table)}
        artifact: Any = wandb.Artifact(f"table-{table.study}-{table.scale}", type="table")
        for name, text in table.files.items():
            write_atomic(folder / name, text)
            artifact.add_file(str(folder / name), name=name, policy="immutable")
            if name.endswith(".html"):
                shown["page"] = wandb.Html(text, inject=False)
        run.log(shown)
        run.log_artifact(artifact)
        path = Path(run.dir).parent
        run.finish()
    return path


def _table(table: Tabled) -> Any:
    import wandb

    return wandb.Table(columns=list(table.columns), data=[list(row) for row in table.rows], allow_mixed_types=True)
