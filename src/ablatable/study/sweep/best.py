"""A trial as an experiment of its own: a file that resolves to the very same run, wherever it is run."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, cast

import yaml

from ablatable.config.dump import is_active
from ablatable.config.identity import run_id
from ablatable.config.load import load_experiment
from ablatable.config.locate import display
from ablatable.config.schema import Experiment
from ablatable.config.tree import leaves, value_at
from ablatable.errors import InputError
from ablatable.record.files import disk_errors, write_atomic
from ablatable.study.sweep.load import Plan
from ablatable.study.sweep.status import front, trial_line
from ablatable.study.sweep.trials import Tried


def chosen(trials: Sequence[Tried], plan: Plan, number: int | None) -> Tried:
    """The best trial, or the one of that number.

    Raises:
        InputError: none is completed, that one isn't, or several objectives leave the choice open.
    """
    sweep = plan.sweep
    if number is not None:
        found = next((trial for trial in trials if trial.number == number), None)
        if found is None or found.state != "completed":
            state = "is not there" if found is None else f"is {found.state}"
            raise InputError(f"--trial {number}: that trial of sweep '{sweep.name}' {state}; name a completed one")
        return found
    best = front(trials, sweep)
    if not best:
        raise InputError(f"sweep '{sweep.name}' has no completed trial yet; run it first")
    if len(best) > 1:
        lines = "; ".join(trial_line(trial, sweep) for trial in best)
        raise InputError(
            f"sweep '{sweep.name}' has several objectives, and none of these trials is the best in all: {lines}. "
            "Choose one with --trial"
        )
    return best[0]


def experiment_text(plan: Plan, trial: Tried) -> str:
    """The YAML of a trial's experiment: the sweep's experiment, and all in which the trial differs from it.

    The scale is spelt out: the file is trained without one. Where the sweep repeats its trials, it has the first seed.
    """
    sweep = plan.sweep
    base, made = load_experiment(sweep.experiment), plan.ground.experiment(trial.point)
    tree: dict[str, Any] = {"title": f"{sweep.title}: trial {trial.number}", "extends": sweep.experiment}
    for path in leaves():
        if not is_active(made, path) or value_at(made, path) == value_at(base, path):
            continue
        *sections, name = path.split(".")
        node = tree
        for section in sections:
            node = node.setdefault(section, {})
        value = value_at(made, path)
        node[name] = list(cast(tuple[Any, ...], value)) if isinstance(value, tuple) else value
    seeds = "" if sweep.seeds == 1 else f", the mean over {sweep.seeds} seeds"
    told = trial_line(trial, sweep).replace("\n", " ")
    head = f"# Written by `ablatable sweep best {sweep.name}`: {told}{seeds}; selected on the development data.\n"
    return head + yaml.safe_dump(tree, sort_keys=False, allow_unicode=True, width=120)


def write_experiment(plan: Plan, trial: Tried, output: Path) -> None:
    """Write a trial's experiment and read it back.

    Raises:
        InputError: the file is there and says something else, or no experiment can be of that name.
    """
    if output.suffix != ".yaml":
        raise InputError(f"--output {output}: an experiment is a .yaml file, such as experiments/tuned.yaml")
    text = experiment_text(plan, trial)
    with disk_errors(output, "name another file"):
        if output.exists() and output.read_text(encoding="utf-8") != text:
            raise InputError(f"--output: {display(output)} is there already; name another file, or delete it")
        write_atomic(output, text)
    _check(load_experiment(str(output)), plan.ground.experiment(trial.point))


def _check(read: Experiment, meant: Experiment) -> None:
    if run_id(read, None) != run_id(meant, None):
        raise RuntimeError("the experiment that was written is another run than the trial's")
