"""From what a person types to one run: its folder, its id or the beginning of its id."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ablatable.errors import InputError
from ablatable.record.store import Store

_LISTED = 10


def only_id(ids: Sequence[str], beginning: str, where: str, remedy: str) -> str:
    """The id that is ``beginning``, or the only one that begins so.

    Args:
        ids: those there are.
        beginning: what was typed.
        where: the place they are in, as it is shown.
        remedy: the end of the sentence that says no id begins so.

    Raises:
        InputError: no id begins so, or several do.
    """
    found = [id for id in ids if beginning and id.startswith(beginning)]
    if not found:
        raise InputError(f"no run in {where}/ has an id that begins with '{beginning}'{remedy}")
    if len(found) > 1 and beginning not in found:
        listed = ", ".join(found[:_LISTED]) + (", ..." if len(found) > _LISTED else "")
        raise InputError(f"'{beginning}' begins the ids of {len(found)} runs in {where}/ ({listed}); give more of it")
    return beginning if beginning in found else found[0]


def find_run(root: Path, beginning: str) -> Path:
    """Return the folder of the only run under ``root`` whose id begins so.

    Raises:
        InputError: no run begins so, or several do.
    """
    store = Store(root)
    remedy = "; `ablatable status STUDY --format json` lists the runs of a study"
    return store.folder(only_id(list(store.ids()), beginning, str(root), remedy))


def run_folder(root: Path, run: str) -> Path:
    """The folder of a run by its path, its id or the beginning of its id. Raises InputError as `find_run` does."""
    return Path(run) if Path(run).is_dir() else find_run(root, run)
