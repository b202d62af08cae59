"""Runs that share one training: rows that differ only in search, evaluation or averaging train once.

Within a table the run that keeps the most averaged checkpoints trains, and the others take its weights. Where it has
finished and what they need is gone, one of them trains for the rest. A run that another table finished serves too,
where its evaluated weights are there and are the ones asked for.
"""

from __future__ import annotations

from collections.abc import Sequence

from ablatable.config.dump import from_dict
from ablatable.config.identity import training_id, weights_id
from ablatable.config.schema import Experiment
from ablatable.config.weights import evaluated_weights
from ablatable.errors import InputError
from ablatable.record.foreign import ORIGIN_FILE
from ablatable.record.schema import Record
from ablatable.record.store import Store
from ablatable.study.resolve import Fingerprint
from ablatable.study.schema import RowRuns
from ablatable.training.offers import offered

Wanted = Sequence[tuple[str, Experiment]]


def shared_trainings(rows: Sequence[RowRuns], fingerprint: Fingerprint, store: Store) -> dict[str, str]:
    """For each run of a table that need not train, the run that trains for it. What a search leaves open is none.

    Args:
        rows: the table's rows.
        fingerprint: of a corpus.
        store: the finished runs of any table, which may serve as well, and the weights they have left.
    """
    known = [row for row in rows if row.awaits is None]
    wanted = [(id, one) for row in known for one, id in zip(row.experiments, row.ids, strict=True)]
    within = _within(wanted, fingerprint, store)
    # A run that trains for others of its table trains, whatever other tables have left.
    alone = [run for run in wanted if run[0] not in within and run[0] not in within.values()]
    return within | (_finished_elsewhere(alone, fingerprint, store) if alone else {})


def trained_again(rows: Sequence[RowRuns], fingerprint: Fingerprint, store: Store) -> dict[str, str]:
    """For each unfinished run that will train, the imported run that trained the same and left its weights elsewhere.

    Args:
        rows: the table's rows.
        fingerprint: of a corpus.
        store: where imported runs of ours are looked for.
    """
    there = [store.read(path.parent.name) for path in sorted(store.root.glob(f"*/{ORIGIN_FILE}"))]
    trained = {
        _training_of(r): r.id for r in there if r is not None and r.trained_by is None and not _has_weights(store, r)
    }
    if not trained:
        return {}
    served = shared_trainings(rows, fingerprint, store)
    found: dict[str, str] = {}
    for row in rows:
        for id, one in zip(row.ids, row.experiments, strict=True):
            trainer = trained.get(training_id(one, fingerprint(one.data)))
            if trainer is not None and id not in served and store.status(id).state != "completed":
                found[id] = trainer
    return found


def _has_weights(store: Store, record: Record) -> bool:
    return any((store.folder(record.id) / "checkpoints").glob("*"))


def _training_of(record: Record) -> str:
    try:
        return training_id(from_dict(record.config), record.stamp.corpus_fingerprint)
    except InputError:
        return record.id  # as in `_weights_of`


def _within(wanted: Wanted, fingerprint: Fingerprint, store: Store) -> dict[str, str]:
    families: dict[str, list[tuple[str, Experiment]]] = {}
    for id, experiment in wanted:
        families.setdefault(training_id(experiment, fingerprint(experiment.data)), []).append((id, experiment))
    found: dict[str, str] = {}
    for family in families.values():
        found |= _in_family(family, fingerprint, store)
    return found


def _in_family(family: Wanted, fingerprint: Fingerprint, store: Store) -> dict[str, str]:
    """Who trains for whom among runs of one training; those it cannot serve any more find one among themselves."""
    if len(family) < 2:
        return {}
    # The first of those with the longest average, so that the choice doesn't depend on what is finished.
    trainer, its = max(family, key=lambda run: evaluated_weights(run[1]).averaged)
    others = [run for run in family if run[0] != trainer and evaluated_weights(run[1]).left_by(evaluated_weights(its))]
    done = {id for id, _ in family if store.status(id).state == "completed"}
    served: dict[str, str] = {}
    for id, experiment in others:
        if id in done or trainer not in done:
            served[id] = trainer
            continue
        finished = [(trainer, its), *(run for run in others if run[0] in done)]
        serves = (one for one, trained in finished if _offered(store, one, trained, experiment, fingerprint))
        if (first := next(serves, None)) is not None:
            served[id] = first
    return served | _in_family([run for run in others if run[0] not in served], fingerprint, store)


def _offered(store: Store, trainer: str, its: Experiment, wanted: Experiment, fingerprint: Fingerprint) -> bool:
    record = store.read(trainer)
    left = store.folder(trainer) / "checkpoints"
    return record is not None and bool(offered(left, its, record.updates, wanted, fingerprint(wanted.data)))


def _finished_elsewhere(wanted: Wanted, fingerprint: Fingerprint, store: Store) -> dict[str, str]:
    finished: dict[str, list[Record]] = {}
    for record in store.intact():
        if record.status == "completed" and record.trained_by is None:
            finished.setdefault(_weights_of(record), []).append(record)
    found: dict[str, str] = {}
    for id, one in wanted:
        same = finished.get(weights_id(one, fingerprint(one.data)), [])
        serves = (r.id for r in same if r.id != id and _offered(store, r.id, from_dict(r.config), one, fingerprint))
        if (first := next(serves, None)) is not None:
            found[id] = first
    return found


def _weights_of(record: Record) -> str:
    try:
        return weights_id(from_dict(record.config), record.stamp.corpus_fingerprint)
    except InputError:
        return record.id  # of a design space that had other settings: nothing asked for today is the same
