"""Norms, residual connections and the feed-forward sub-layer of a Transformer."""

from __future__ import annotations

from functools import partial

from torch import nn

from ablatable.config.model import Model
from ablatable.nn import ffn, norms
from ablatable.nn import residual as residuals
from ablatable.nn.dropout import Dropout


def norm(model: Model) -> norms.Norm:
    """One norm of the residual stream."""
    return norms.KINDS[model.norm].of(model)


def residual(model: Model) -> residuals.Residual:
    """What wraps one sub-layer."""
    return residuals.KINDS[model.norm_placement](partial(norm, model), Dropout(model.dropout))


def final_norm(model: Model) -> nn.Module | None:
    """The norm at the end of a stack, where the placement asks for one."""
    return norm(model) if residuals.KINDS[model.norm_placement].final_norm else None


def feed_forward(model: Model) -> nn.Module | None:
    """The feed-forward sub-layer, or None."""
    kind = ffn.KINDS[model.ffn]
    return None if kind is None else kind.of(model)
