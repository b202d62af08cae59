"""Runs that share one training: rows that differ only in search, evaluation or averaging train once.

Within a table the run that keeps the most averaged checkpoints trains, and the others take its weights. A run that
another table finished serves too, where its evaluated weights are the ones asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from ablatable.config.dump import from_dict
from ablatable.config.identity import training_id, weights_id
from ablatable.config.schema import Experiment
from ablatable.config.weights import evaluated_weights
from ablatable.errors import InputError
from ablatable.record.schema import Record
from ablatable.study.resolve import Fingerprint
from ablatable.study.schema import RowRuns

Wanted = Sequence[tuple[str, Experiment]]


def shared_trainings(
    rows: Sequence[RowRuns], fingerprint: Fingerprint, records: Callable[[], Iterable[Record]]
) -> dict[str, str]:
    """For each run of a table that need not train, the run that trains for it.

    Args:
        rows: the table's rows.
        fingerprint: of a corpus.
        records: gives the finished runs of any table, which may serve as well; asked only where that matters.
    """
    wanted = [(id, one) for row in rows for one, id in zip(row.experiments, row.ids, strict=True)]
    within = _within(wanted, fingerprint)
    # A run that trains for others of its table trains, whatever other tables have left.
    alone = [run for run in wanted if run[0] not in within and run[0] not in within.values()]
    return within | (_finished_elsewhere(alone, fingerprint, records()) if alone else {})


def _within(wanted: Wanted, fingerprint: Fingerprint) -> dict[str, str]:
    families: dict[str, list[tuple[str, Experiment]]] = {}
    for id, experiment in wanted:
        families.setdefault(training_id(experiment, fingerprint(experiment.data)), []).append((id, experiment))
    found: dict[str, str] = {}
    for family in families.values():
        # The first of those with the longest average, so that the choice doesn't depend on what is finished.
        trainer, its = max(family, key=lambda run: evaluated_weights(run[1]).averaged)
        left = evaluated_weights(its)
        found |= {id: trainer for id, other in family if id != trainer and evaluated_weights(other).left_by(left)}
    return found


def _finished_elsewhere(wanted: Wanted, fingerprint: Fingerprint, records: Iterable[Record]) -> dict[str, str]:
    served: dict[str, str] = {}
    for record in records:
        if record.status == "completed" and record.trained_by is None:
            served.setdefault(_weights_of(record), record.id)
    found = {id: served.get(weights_id(one, fingerprint(one.data))) for id, one in wanted}
    return {id: trainer for id, trainer in found.items() if trainer is not None and trainer != id}


def _weights_of(record: Record) -> str:
    try:
        return weights_id(from_dict(record.config), record.stamp.corpus_fingerprint)
    except InputError:
        return record.id  # of a design space that had other settings: nothing asked for today is the same
