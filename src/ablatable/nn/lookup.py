"""Reading the encoder's states by scores, without heads: what recurrent and convolutional decoders do.

Shapes: B sentences, Q queries, S source, V width of what is read.
"""

from __future__ import annotations

import torch
from torch import Tensor


def soft_lookup(scores_BQS: Tensor, values_BSV: Tensor, keep_BS: Tensor) -> Tensor:
    """Return the values, averaged with the softmax of the scores over kept positions, (B, Q, V).

    Exactly zero, and its gradients too, where no position is kept.
    """
    hidden_B1S = ~keep_BS[:, None]
    scores_BQS = scores_BQS.masked_fill(hidden_B1S, torch.finfo(scores_BQS.dtype).min)
    weights_BQS = scores_BQS.softmax(dim=-1).masked_fill(hidden_B1S, 0.0)
    return weights_BQS.to(values_BSV.dtype) @ values_BSV
