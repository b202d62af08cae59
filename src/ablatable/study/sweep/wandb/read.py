"""`--from-wandb`: W&B's sweep file read as one of ours. All that follows is as for any sweep."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, cast

from ablatable.config.layers import from_overrides
from ablatable.config.yaml_file import Document
from ablatable.config.yaml_file import read as read_yaml
from ablatable.errors import InputError, nearest
from ablatable.study.strict import Place, refuse_unknown_keys
from ablatable.study.sweep.load import Plan, plan_of
from ablatable.study.sweep.schema import COSTS, SCORES
from ablatable.study.sweep.wandb import parameters, stopping
from ablatable.study.sweep.wandb.command import Called, called
from ablatable.study.sweep.wandb.parameters import Constant, Method

_SAMPLERS: dict[Method, str] = {"grid": "grid", "random": "random", "bayes": "gp"}
"""W&B's bayes is a Gaussian process with expected improvement, and so is ours."""

_SEARCH = ("method", "parameters", "metric", "run_cap", "early_terminate", "command", "program")
_WORDS = ("project", "entity", "name", "description", "apiVersion", "kind", "controller")
_REFUSED = {
    "metrics": "several metrics need one of our own files, with the sampler nsga2",
    "scheduler": "a scheduler of W&B's is not run here; remove it",
    "job": "W&B Launch is not run here; write a command",
    "image_uri": "W&B Launch is not run here; write a command",
}
_UNNAMED = "valid.nll"
"""What is made better where a grid or a random search names no metric."""


@dataclass(frozen=True)
class Read:
    """A W&B sweep as a plan of ours, and what is done differently."""

    plan: Plan
    notes: tuple[str, ...]


def load_wandb(path: Path) -> Read:
    """Read a W&B sweep file. Its trials are kept under the file's name.

    Raises:
        InputError: as :func:`ablatable.study.sweep.load.load_sweep`, a command other than `ablatable train`, or what
            has no counterpart here.
    """
    origin = read_yaml(path)
    for key, reason in _REFUSED.items():
        if key in origin.data:
            raise InputError(f"{origin.where(key)}: '{key}': {reason}")
    refuse_unknown_keys(origin.data, (), (*_SEARCH, *_WORDS), origin)
    document, notes = _Translation(origin).document()
    plan = plan_of(document)
    if "early_terminate" in origin.data:
        every = int(plan.ground.value("train.validate_every"))
        plan = plan_of(replace(document, data={**document.data, "pruner": stopping.read(origin, every)}))
    return Read(plan, tuple(notes))


class _Translation:
    """One W&B file on its way to one of ours; each key of ours remembers the line it came from."""

    def __init__(self, origin: Document) -> None:
        self._origin = origin
        self._lines: dict[Place, int] = {}
        self._notes: list[str] = []

    def document(self) -> tuple[Document, list[str]]:
        """The file in our words."""
        data = self._origin.data
        method = self._method()
        command = called(self._origin)
        fixed = self._fixed(command)
        space = self._space(method, fixed)
        stem = self._origin.path.stem
        content: dict[str, Any] = {
            "name": re.sub(r"[^A-Za-z0-9._=+-]+", "-", stem).lstrip("._=+-")[:60] or "sweep",
            "title": str(data.get("description") or data.get("name") or stem),
            "experiment": command.experiment,
            "scale": command.scale,
            "fixed": fixed,
            "space": space,
            "objectives": [self._objective(method)],
            "sampler": {"kind": _SAMPLERS[method]},
            "budget": self._budget(),
        }
        for ours, theirs in (
            (("objectives", 0), "metric"),
            (("sampler",), "method"),
            (("pruner",), "early_terminate"),
            (("budget",), "run_cap"),
            (("experiment",), "command"),
            (("scale",), "command"),
        ):
            self._at(ours, (theirs,))
        return Document(self._origin.path, {k: v for k, v in content.items() if v}, self._lines), self._notes

    def _at(self, ours: Place, theirs: Place) -> None:
        for depth in range(len(theirs), 0, -1):
            if theirs[:depth] in self._origin.lines:
                self._lines[ours] = self._origin.lines[theirs[:depth]]
                return

    def _method(self) -> Method:
        method = self._origin.data.get("method")
        if method not in _SAMPLERS:
            where = self._origin.where("method")
            hint = nearest(str(method), _SAMPLERS) or f"; known: {', '.join(_SAMPLERS)}"
            said = "a W&B sweep has a 'method'" if method is None else f"unknown method '{method}'"
            raise InputError(f"{where}: {said}{hint}")
        return method

    def _fixed(self, command: Called) -> dict[str, Any]:
        """What the command sets, and where the runs go: offline, for `wandb sync`."""
        layer = from_overrides(command.words, self._origin.where("command"))
        fixed = {path: setting.value for path, setting in layer.items()}
        for path in fixed:
            self._at(("fixed", path), ("command",))
        for key in ("project", "entity"):
            if key in self._origin.data:
                fixed[f"tracking.{key}"] = self._origin.data[key]
                self._at(("fixed", f"tracking.{key}"), (key,))
        return fixed

    def _space(self, method: Method, fixed: dict[str, Any]) -> dict[str, Any]:
        space: dict[str, Any] = {}
        for path, place, given in parameters.flattened(self._origin):
            where = self._origin.where(*place)
            if path == "seed" and "value" not in given:
                raise InputError(
                    f"{where}: the seed is no choice to search; give one value, or use `seeds` in our own file"
                )
            if path in fixed or path in space:
                raise InputError(f"{where}: {path} is set twice; remove it here or in the command")
            found = parameters.read(path, place, given, self._origin, method)
            if isinstance(found, Constant):
                fixed[path] = found.value
                self._at(("fixed", path), place)
            else:
                space[path] = found.entry
                self._at(("space", path), place)
        if fixed.get("tracking.wandb") != "off":
            fixed["tracking.wandb"] = "offline"
        return space

    def _objective(self, method: Method) -> dict[str, Any]:
        where = self._origin.where("metric")
        given: Any = self._origin.data.get("metric")
        if given is None and method != "bayes":
            self._notes.append(f"the file names no metric: the best is that of the lowest {_UNNAMED}")
            given = {"name": _UNNAMED}
        if not isinstance(given, dict) or "name" not in given:
            raise InputError(f"{where}: 'metric' says what is made better, such as {{name: valid/nll, goal: minimize}}")
        metric = cast(dict[str, Any], given)
        if "target" in metric:
            raise InputError(f"{where}: a search here does not end at a metric's target; remove it and give a run_cap")
        refuse_unknown_keys(metric, ("metric",), ("name", "goal", "impute", "impute_while_running"), self._origin)
        if "impute" in metric or "impute_while_running" in metric:
            self._notes.append("impute is left out: a run without a value has none here")
        return {"metric": _metric(str(metric["name"]), metric.get("goal", "minimize"), where)}

    def _budget(self) -> dict[str, Any] | None:
        cap: Any = self._origin.data.get("run_cap")
        return None if cap is None else {"trials": cap}


def _metric(name: str, goal: Any, where: str) -> str:
    """Our name of a metric: our W&B runs show a score as `valid.bleu`, the curves as `valid/nll`."""
    metric = re.sub(r"^valid[./]", "", name)
    directions = SCORES | COSTS
    if metric not in directions:
        known = [f"valid.{score}" for score in SCORES] + list(COSTS)
        hint = nearest(name, known) or f"; known: {', '.join(known)}"
        raise InputError(f"{where}: a search here cannot go by the metric '{name}'{hint}")
    wanted = "minimize" if directions[metric] == "lower" else "maximize"
    if goal != wanted:
        raise InputError(f"{where}: of {name} the {directions[metric]} is better; write goal: {wanted}")
    return metric
