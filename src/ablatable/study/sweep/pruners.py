"""The pruners: each compares a trial's validations with those of the others, by update."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ablatable.study.sweep.load import Plan

if TYPE_CHECKING:
    from optuna.pruners import BasePruner


def pruner_of(plan: Plan) -> BasePruner:
    """Optuna's pruner for a sweep; resources are updates."""
    from optuna.pruners import HyperbandPruner, MedianPruner, NopPruner, SuccessiveHalvingPruner

    chosen = plan.sweep.pruner
    first = chosen.first or int(plan.ground.value("train.validate_every"))
    factor = chosen.factor or 3
    match chosen.kind:
        case "none":
            return NopPruner()
        case "median":
            startup = 5 if chosen.startup is None else chosen.startup
            return MedianPruner(n_startup_trials=startup, n_warmup_steps=first - 1)
        case "asha":
            return SuccessiveHalvingPruner(min_resource=first, reduction_factor=factor)
        case "hyperband":
            longest = max(first, int(plan.ground.value("train.updates")))
            return HyperbandPruner(min_resource=first, max_resource=longest, reduction_factor=factor)
