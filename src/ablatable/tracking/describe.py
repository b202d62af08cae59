"""How a run is shown in a tracker: its name, its group, what it can be found by, what was set."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import ablatable
from ablatable.config.dump import to_dict
from ablatable.record.job import Job
from ablatable.record.schema import RUN_FACTS, Record
from ablatable.record.stamp import code_digest, git_state

_LONGEST_TAG = 64
"""Characters; W&B refuses longer ones."""


@dataclass(frozen=True)
class Card:
    """What a tracker shows of a run besides its curves. ``config`` is nested as the design space is."""

    id: str
    name: str
    group: str | None
    tags: tuple[str, ...]
    config: dict[str, Any]


def card_of(job: Job) -> Card:
    """The card of a run.

    Named ``row/seed``, grouped by study. Its tags are scale, corpus, architecture and the settings its row changes
    (``baseline`` where it changes none). ``config`` is the resolved tree, and beside it the run's identity and code.
    """
    experiment, labels = job.experiment, job.labels
    changed = job.changed or (("baseline",) if labels.study else ())
    tags = (labels.scale, experiment.data.corpus, experiment.model.architecture, *changed)
    run = {"id": job.id, "study": labels.study, "row": labels.row, "scale": labels.scale}
    commit, changes = git_state(Path(ablatable.__file__).parent)
    return Card(
        id=job.id,
        name=f"{labels.row or 'run'}/{experiment.seed}",
        group=labels.study,
        tags=tuple(dict.fromkeys(tag[:_LONGEST_TAG] for tag in tags if tag)),
        config={
            **to_dict(experiment),
            "run": run,
            "code": {"commit": commit, "changes": changes, "digest": code_digest()},
        },
    )


def facts(record: Record) -> dict[str, float | str]:
    """The final numbers by the names tables know them by (``valid.bleu``, ``parameters``), and how the run ended.

    The metrics are of the weights that were evaluated (last, best or averaged), not the last of a curve.
    """
    found: dict[str, float | str] = {name: metric.value for name, metric in record.metrics.items()}
    found |= {name: getattr(record, name) for name in RUN_FACTS}
    best = min((p for p in record.curve if p.valid_nll is not None), key=lambda p: p.valid_nll or 0.0, default=None)
    if best is not None and best.valid_nll is not None:
        found |= {"best.nll": best.valid_nll, "best.update": best.update}
    return found | {"status": record.status}
