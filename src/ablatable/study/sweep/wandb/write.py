"""`ablatable sweep export`: one of our sweeps as W&B's sweep file."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from ablatable.config.locate import display
from ablatable.config.tree import leaves
from ablatable.errors import InputError
from ablatable.record.files import disk_errors, write_atomic
from ablatable.study.sweep.domains import Choice
from ablatable.study.sweep.load import Plan
from ablatable.study.sweep.plan import plan_sweep
from ablatable.study.sweep.space import Parameter
from ablatable.study.sweep.wandb import command, parameters, stopping
from ablatable.study.sweep.wandb.parameters import Method

_METHODS: dict[str, Method] = {"grid": "grid", "random": "random", "tpe": "bayes", "gp": "bayes"}
_INSTEAD = "run it with `ablatable sweep run`, whose runs `wandb sync` uploads"


@dataclass(frozen=True)
class Exported:
    """The text of a W&B sweep file, and what W&B will do differently."""

    text: str
    notes: tuple[str, ...]


def export(plan: Plan) -> Exported:
    """Write a sweep as W&B's.

    Raises:
        InputError: W&B cannot express it; the message says what of it.
    """
    _refuse(plan)
    sweep = plan.sweep
    method = _METHODS[sweep.sampler.kind]
    early, notes = stopping.written(plan)
    notes += _notes(plan)
    objective = sweep.objectives[0]
    goal = "minimize" if objective.direction == "lower" else "maximize"
    content: dict[str, Any] = {
        "name": sweep.name,
        "description": sweep.title,
        "project": plan.ground.value("tracking.project"),
        "entity": plan.ground.value("tracking.entity"),
        "program": command.PROGRAM,
        "method": method,
        "metric": {"name": stopping.metric_on_the_way(plan) if early else objective.key, "goal": goal},
        "run_cap": sweep.budget.trials,
        "early_terminate": early,
        "parameters": {
            **{path: {"value": value} for path, value in sweep.fixed.items() if not path.startswith("tracking.")},
            **{one.path: parameters.written(one.domain, method) for one in plan.space.parameters},
        },
        "command": command.written(sweep),
    }
    said = {key: value for key, value in content.items() if value is not None}
    head = [f"Written by `ablatable sweep export {sweep.name} --to wandb`.", *notes]
    comments = "".join(f"# {line}\n" for line in head)
    return Exported(comments + yaml.safe_dump(said, sort_keys=False, allow_unicode=True, width=120), tuple(notes))


def write(exported: Exported, output: Path) -> None:
    """Write the file.

    Raises:
        InputError: it is there and says something else.
    """
    with disk_errors(output, "name another file"):
        if output.exists() and output.read_text(encoding="utf-8") != exported.text:
            raise InputError(f"--output: {display(output)} is there already; name another file, or delete it")
        write_atomic(output, exported.text)


def _refuse(plan: Plan) -> None:
    sweep, at = plan.sweep, plan.sweep.origin.where
    if sweep.sampler.kind == "list":
        raise InputError(f"{at('points')}: W&B has no list of points, only the product of values; {_INSTEAD}")
    if len(sweep.objectives) > 1:
        raise InputError(
            f"{at('objectives')}: a W&B sweep has one metric and this one {len(sweep.objectives)}; {_INSTEAD}"
        )
    if sweep.sampler.kind not in _METHODS:
        raise InputError(f"{at('sampler')}: W&B has no counterpart of the sampler {sweep.sampler.kind}; {_INSTEAD}")
    if sweep.seeds > 1:
        raise InputError(f"{at('seeds')}: W&B compares single runs, not means over {sweep.seeds} seeds; {_INSTEAD}")
    found = {parameter.path: parameter for parameter in plan.space.parameters}
    for path, parameter in found.items():
        condition = next((f"{other}={_said(values)}" for other, values in parameter.when.items()), None)
        condition = condition or _unmet_somewhere(path, found)
        if condition is not None:
            raise InputError(
                f"{at('space', path)}: {path} means something only with {condition}, and W&B sets every parameter in "
                f"every run; export a sweep for each case, or {_INSTEAD}"
            )


def _said(values: tuple[Any, ...]) -> str:
    return " or ".join(str(value) for value in values)


def _unmet_somewhere(path: str, found: dict[str, Parameter]) -> str | None:
    """What a setting needs and some points of the space lack."""
    for need in leaves()[path].needs:
        if need.path in found:
            domain = found[need.path].domain
            reach = domain.values if isinstance(domain, Choice) else (domain.low, domain.high)
            if not all(need.met(value) for value in reach):
                return str(need)
        above = _unmet_somewhere(need.path, found)
        if above is not None:
            return above
    return None


def _notes(plan: Plan) -> list[str]:
    sampler, budget = plan.sweep.sampler, plan.sweep.budget
    notes: list[str] = []
    if sampler.kind == "tpe":
        notes.append("W&B has no TPE: its bayes is a Gaussian process.")
    if budget.hours is not None or budget.flops is not None:
        notes.append("W&B limits the number of runs alone: hours and FLOPs of the budget are left out.")
    if not plan.sweep.enumerated and budget.trials is None:
        notes.append("The sweep has no number of trials: W&B goes on until it is stopped.")
    impossible = plan_sweep(plan).impossible
    if impossible:
        notes.append(
            f"Some points are impossible, such as: {impossible[0]}. Such runs fail in W&B, and an agent ends after "
            "three failures in its first minute unless WANDB_AGENT_DISABLE_FLAPPING=true."
        )
    return notes
