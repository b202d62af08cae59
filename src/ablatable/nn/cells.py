"""Recurrent cells, one layer in one direction.

Shapes: N sequences, T steps, I inputs, H width. A cell's state is a tuple of ``parts`` tensors (N, H), output first.

Initial values, one matrix a gate: Glorot uniform, U(-a, a) with a = sqrt(6 / (inputs + outputs)) (Glorot & Bengio
2010), for input and recurrent weights alike; biases 0, but 1 for an LSTM's forget gate, so that it remembers at first
(Gers et al. 2000; Jozefowicz et al. 2015). Each gate has two biases, one beside either product, as cuDNN's cells do: in
a GRU the two differ, for the reset gate multiplies one of them.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from ablatable.nn.initial import glorot_uniform

CellState = tuple[Tensor, ...]


class Lstm(nn.LSTM):
    """Hochreiter & Schmidhuber 1997, with the forget gate of Gers et al. 2000 and no peepholes.

    i, f, o = sigmoid(W x + U h + b), g = tanh(W x + U h + b); c' = f c + i g, h' = o tanh(c'). State (h, c).
    """

    parts = 2

    def __init__(self, inputs: int, width: int) -> None:
        super().__init__(inputs, width, batch_first=True, device="meta")
        self.to_empty(device="cpu")

    def initial_values(self, name: str, shape: torch.Size, generator: torch.Generator) -> Tensor:
        """Glorot per gate; biases 0, the forget gate's 1 in sum."""
        if name.startswith("weight"):
            return _gate_by_gate(shape, 4, generator)
        bias = torch.zeros(shape)
        if name.startswith("bias_ih"):
            bias[self.hidden_size : 2 * self.hidden_size] = 1.0  # gates lie in the order i, f, g, o
        return bias

    def run(self, x_NTI: Tensor, state: CellState | None) -> tuple[Tensor, CellState]:
        """See :func:`recur`."""
        out_NTH, (hidden, cell) = self(x_NTI, None if state is None else (state[0][None], state[1][None]))
        return out_NTH, (hidden[0], cell[0])


class Gru(nn.GRU):
    """Cho et al. 2014, in cuDNN's form: the reset gate acts after the recurrent product.

    r, z = sigmoid(W x + U h + b), n = tanh(W x + b + r (U h + b')); h' = (1 - z) n + z h. State (h,).
    """

    parts = 1

    def __init__(self, inputs: int, width: int) -> None:
        super().__init__(inputs, width, batch_first=True, device="meta")
        self.to_empty(device="cpu")

    def initial_values(self, name: str, shape: torch.Size, generator: torch.Generator) -> Tensor:
        """Glorot per gate; biases 0."""
        return _gate_by_gate(shape, 3, generator) if name.startswith("weight") else torch.zeros(shape)

    def run(self, x_NTI: Tensor, state: CellState | None) -> tuple[Tensor, CellState]:
        """See :func:`recur`."""
        out_NTH, hidden = self(x_NTI, None if state is None else state[0][None])
        return out_NTH, (hidden[0],)


Cell = Lstm | Gru
KINDS: dict[str, type[Lstm] | type[Gru]] = {"lstm": Lstm, "gru": Gru}
"""Cells by ``model.rnn_cell``; each takes the widths of its input and of its state."""


def recur(cell: Cell, x_NTI: Tensor, state: CellState | None = None) -> tuple[Tensor, CellState]:
    """Return the outputs (N, T, H) and the state after the last step; ``None`` starts from zeros.

    Cells keep the precision of their weights under autocast: oneDNN has no bfloat16 recurrence on many CPUs, and
    cuDNN's is cast to float16 whatever autocast says.
    """
    precision = next(cell.parameters()).dtype
    with torch.autocast(x_NTI.device.type, enabled=False):
        own = None if state is None else tuple(part.to(precision) for part in state)
        return cell.run(x_NTI.to(precision), own)


def _gate_by_gate(shape: torch.Size, gates: int, generator: torch.Generator) -> Tensor:
    one = torch.Size((shape[0] // gates, shape[1]))
    return torch.cat([glorot_uniform(one, generator) for _ in range(gates)])
