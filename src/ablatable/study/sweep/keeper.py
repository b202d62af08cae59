"""Where a sweep's trials are kept: opened, made where it is missing, refused where it belongs to another sweep."""

from __future__ import annotations

import warnings
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Protocol, cast

from ablatable.config.locate import display, runs_folder
from ablatable.config.tree import leaves
from ablatable.errors import InputError
from ablatable.study.sweep.journal import JOURNAL_FILE, JournalKeeper
from ablatable.study.sweep.load import Plan
from ablatable.study.sweep.pruners import pruner_of
from ablatable.study.sweep.schema import Sweep
from ablatable.study.sweep.trials import Tried, tried

if TYPE_CHECKING:
    import optuna
    from optuna.storages import BaseStorage
    from optuna.trial import FrozenTrial

ABOUT = "ablatable"
"""The study's attribute that says what is searched, so that another sweep's trials are never taken for this one's."""


class Keeper(Protocol):
    """What the two kinds of storage have in common."""

    storage: BaseStorage
    heartbeat: int | None
    """Seconds between two signs of life; None: none are needed."""

    @property
    def owner(self) -> str:
        """This process's name among those that run trials."""
        ...

    def exclusive(self) -> AbstractContextManager[None]:
        """Inside, no other process takes a trial of this sweep."""
        ...

    def watched(self) -> AbstractContextManager[None]:
        """Around the work of a sweep: says in one sentence what became of the storage."""
        ...

    def dead(self, running: FrozenTrial, owner: str | None) -> bool:
        """Whether the process that runs a trial is gone."""
        ...

    def beat(self, trial_id: int) -> None:
        """Tell the others that the trial's process lives."""
        ...

    def close(self) -> None:
        """Let go of it."""
        ...


def sweep_folder(name: str) -> Path:
    """`runs/sweeps/<name>`: the journal, and the plots."""
    return runs_folder() / "sweeps" / name


def open_keeper(sweep: Sweep, url: str | None, heartbeat: int | None = None) -> Keeper:
    """Open the storage of a sweep, made where there is none.

    Args:
        sweep: it is kept under the sweep's name.
        url: of a database; None: a journal in the sweep's folder.
        heartbeat: seconds between a process's signs of life in a database; a process not heard of for four of them is
            taken for dead.

    Raises:
        InputError: it can't be reached or written, or is damaged.
    """
    quiet()
    if url is None:
        return JournalKeeper(sweep_folder(sweep.name))
    from ablatable.study.sweep.database import HEARTBEAT_SECONDS, DatabaseKeeper

    seconds = HEARTBEAT_SECONDS if heartbeat is None else heartbeat
    return DatabaseKeeper(url, sweep.name, seconds, 4 * seconds)


def existing_keeper(sweep: Sweep, url: str | None) -> Keeper:
    """Open a storage that was made by `sweep run`.

    Raises:
        InputError: as :func:`open_keeper`, or the sweep was never run.
    """
    if url is None and not (sweep_folder(sweep.name) / JOURNAL_FILE).is_file():
        raise InputError(
            f"sweep '{sweep.name}' was never run here: there is no {display(sweep_folder(sweep.name) / JOURNAL_FILE)}; "
            "run it first, or name its storage with --storage"
        )
    return open_keeper(sweep, url)


def open_study(keeper: Keeper, plan: Plan, corpus: str | None) -> optuna.Study:
    """The sweep's study, made where there is none.

    Raises:
        InputError: the storage holds a sweep of this name that searched something else; the message says what differs.
    """
    import optuna
    from optuna.samplers import RandomSampler

    sweep = plan.sweep
    with keeper.exclusive():
        study = optuna.create_study(
            storage=keeper.storage,
            study_name=sweep.name,
            directions=directions(sweep),
            load_if_exists=True,
            sampler=RandomSampler(),  # never asked: points come from `propose`
            pruner=pruner_of(plan),
        )
        about = cast(dict[str, Any] | None, study.user_attrs.get(ABOUT))
        if about is None:
            study.set_user_attr(ABOUT, description(plan, corpus))
            return study
    refuse_another(about, description(plan, corpus), sweep)
    return study


def find_study(keeper: Keeper, plan: Plan) -> optuna.Study:
    """The sweep's study as it stands in the storage.

    Raises:
        InputError: there is none, or it searched something else.
    """
    import optuna
    from optuna.samplers import RandomSampler

    sweep = plan.sweep
    try:
        study = optuna.load_study(
            study_name=sweep.name, storage=keeper.storage, sampler=RandomSampler(), pruner=pruner_of(plan)
        )
    except KeyError as error:
        raise InputError(f"the storage holds no sweep '{sweep.name}'; run it first") from error
    about = cast(dict[str, Any], study.user_attrs.get(ABOUT, {}))
    refuse_another(about, description(plan, about.get("corpus")), sweep)
    return study


def read_trials(plan: Plan, url: str | None) -> list[Tried]:
    """The trials of a sweep that was run, in the order of their numbers.

    Raises:
        InputError: as :func:`existing_keeper` and :func:`find_study`.
    """
    return read_study(plan, url)[1]


def read_study(plan: Plan, url: str | None) -> tuple[optuna.Study, list[Tried]]:
    """The same, with a copy of the study that needs no storage any more."""
    import optuna

    keeper = existing_keeper(plan.sweep, url)
    try:
        with keeper.watched():
            found = find_study(keeper, plan).get_trials(deepcopy=False)
    finally:
        keeper.close()
    copy = optuna.create_study(study_name=plan.sweep.name, directions=directions(plan.sweep))
    copy.add_trials(found)
    return copy, tried(found)


def directions(sweep: Sweep) -> list[Literal["minimize", "maximize"]]:
    """Optuna's word for each objective."""
    return ["minimize" if objective.direction == "lower" else "maximize" for objective in sweep.objectives]


def description(plan: Plan, corpus: str | None) -> dict[str, Any]:
    """What a search is about: all that its trials share, as plain data. The budget, sampler and pruner may change."""
    sweep, ground = plan.sweep, plan.ground
    settings = {
        path: _plain(ground.value(path)) for path, known in leaves().items() if known.semantic or path == "seed"
    }
    return {
        "objectives": ", ".join(f"{objective.key} ({objective.direction})" for objective in sweep.objectives),
        "seeds": sweep.seeds,
        "corpus": corpus,
        "space": {
            parameter.path: str(parameter.domain)
            + "".join(f" when {path} in {list(values)}" for path, values in parameter.when.items())
            for parameter in plan.space.parameters
        },
        "settings": {path: value for path, value in settings.items() if value != _plain(leaves()[path].default)},
    }


def _plain(value: Any) -> Any:
    return list(cast(tuple[Any, ...], value)) if isinstance(value, tuple) else value


def refuse_another(stored: dict[str, Any], wanted: dict[str, Any], sweep: Sweep) -> None:
    """Refuse trials of a sweep that searched something else.

    Raises:
        InputError: with every difference.
    """
    found = list(_differences(stored, wanted, ""))
    if found:
        raise InputError(
            f"{sweep.origin.where()}: the storage holds another sweep of the name '{sweep.name}': {'; '.join(found)}. "
            "Give this one another name, or undo the change"
        )


def _differences(stored: dict[str, Any], wanted: dict[str, Any], prefix: str) -> list[str]:
    lines: list[str] = []
    for name in sorted({*stored, *wanted}):
        before, now = stored.get(name), wanted.get(name)
        if isinstance(before, dict) and isinstance(now, dict):
            lines += _differences(cast(dict[str, Any], before), cast(dict[str, Any], now), f"{name} ")
        elif before != now:
            lines.append(f"{prefix}{name} was {_said(before)} and is {_said(now)}")
    return lines


def _said(value: Any) -> str:
    return "not there" if value is None else str(value)


def quiet() -> None:
    """Optuna tells each trial and each experimental feature; the sweep's own progress tells what happens."""
    import optuna
    from optuna.exceptions import ExperimentalWarning

    optuna.logging.set_verbosity(optuna.logging.ERROR)
    warnings.filterwarnings("ignore", category=ExperimentalWarning)
