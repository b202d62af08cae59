"""Every model can be sent to another process: with several devices each rank gets its own copy that way."""

import pickle
from dataclasses import replace

import torch
from test_model_axes import CHOICES, _baseline, _build, _each, _evaluated

from ablatable.config.tree import Leaf


@_each(CHOICES)
def test_each_value_crosses_processes(name: str, leaf: Leaf, value: object) -> None:
    model = _build(replace(_baseline(leaf, {}), **{name: value}))
    assert torch.equal(_evaluated(pickle.loads(pickle.dumps(model))), _evaluated(model))
