"""The recurrent encoder-decoder (Sutskever et al. 2014), with attention (Bahdanau et al. 2015) or without.

Encoder: every layer is bidirectional; either direction has half the width, their outputs side by side make H. Decoder:
layers of width H; the first state of layer i is tanh(W final + b) of the two directions' last outputs in encoder layer
i (Bahdanau et al. 2015, appendix A.2.2). From the second layer on, a layer's output is added to its input, without
which six layers hardly learn (Wu et al. 2016, section 3.1).

Attention is asked by the lowest decoder layer, and what it finds is an input of all layers above and of the output (Wu
et al. 2016, section 3). They, like Bahdanau, ask with the state before the current piece; here the query has read it,
so that no recurrence passes through attention (Luong et al. 2015, without input feeding): in training, each layer reads
the whole target in one call, and attention is one batched product.

Dropout: on the embeddings, and on each layer's output, never between time steps (Zaremba et al. 2014).

Shapes: B sentences, S source, T target, K beams, Q queries a sentence, N sequences, I inputs, E = H/2, D d_model, H
width, A attention width (= H).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import cast

import torch
from torch import Tensor, nn

from ablatable.nn.beams import BeamState
from ablatable.nn.cells import Cell, CellState, recur
from ablatable.nn.dropout import Dropout
from ablatable.nn.embeddings import PAD, StackInput
from ablatable.nn.linear import linear
from ablatable.nn.lookup import soft_lookup
from ablatable.nn.network import Network
from ablatable.nn.scores import Additive

Attend = Callable[[Tensor], Tensor]
"""From queries (N, T, H) to contexts of the same shape."""


@dataclass(frozen=True)
class RecurrentMemory:
    """What the encoder hands on: states (B, S, H), keep (B, S) bool, and the last outputs (B, H) of each layer."""

    states: Tensor
    keep: Tensor
    finals: list[Tensor]


class BidirectionalLayer(nn.Module):
    """One cell in either direction. Each reads a sentence from its own end, so padding is never read before text."""

    def __init__(self, left_to_right: Cell, right_to_left: Cell) -> None:
        super().__init__()
        self.left_to_right = left_to_right
        self.right_to_left = right_to_left

    def forward(self, x_BSI: Tensor, mirror_BS: Tensor, last_B: Tensor) -> tuple[Tensor, Tensor]:
        """Return the outputs (B, S, H) and the outputs (B, H) after the whole sentence; see :func:`mirrored`."""
        onward_BSE, _ = recur(self.left_to_right, x_BSI)
        mirrored_BSE, _ = recur(self.right_to_left, _rows(x_BSI, mirror_BS))
        final_BH = torch.cat((_rows(onward_BSE, last_B[:, None]), _rows(mirrored_BSE, last_B[:, None])), -1).squeeze(1)
        return torch.cat((onward_BSE, _rows(mirrored_BSE, mirror_BS)), -1), final_BH


def mirrored(keep_BS: Tensor) -> tuple[Tensor, Tensor]:
    """Where each position's mirror image within its sentence lies, (B, S), and each sentence's last position, (B,)."""
    last_B = (keep_BS.sum(dim=1) - 1).clamp(min=0)
    positions_S = torch.arange(keep_BS.shape[1], device=keep_BS.device)
    return torch.where(positions_S <= last_B[:, None], last_B[:, None] - positions_S, positions_S), last_B


def _rows(x_BSI: Tensor, positions_BQ: Tensor) -> Tensor:
    return x_BSI.gather(1, positions_BQ[..., None].expand(-1, -1, x_BSI.shape[-1]))


class RecurrentEncoder(nn.Module):
    """A stack of bidirectional layers."""

    def __init__(self, layers: Iterable[BidirectionalLayer], dropout: Dropout) -> None:
        super().__init__()
        self.layers = nn.ModuleList(layers)
        self.dropout = dropout

    def forward(self, x_BSD: Tensor, keep_BS: Tensor) -> RecurrentMemory:
        """Read embeddings (B, S, D)."""
        mirror_BS, last_B = mirrored(keep_BS)
        finals: list[Tensor] = []
        x_BSI = x_BSD
        for depth, layer in enumerate(self.layers):
            out_BSH, final_BH = cast(tuple[Tensor, Tensor], layer(x_BSI, mirror_BS, last_B))
            x_BSI = self.dropout.add_to(x_BSI, out_BSH) if depth else self.dropout(out_BSH)
            finals.append(final_BH)
        return RecurrentMemory(x_BSI, keep_BS, finals)


class AdditiveAttention(nn.Module):
    """score(q, k) = v . tanh(W q + U k), not scaled (Bahdanau et al. 2015, section 3.1); one head of width A = H."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.query = linear(width, width, bias=False)
        self.key = linear(width, width, bias=False)
        self.score = Additive(1, width)

    def forward(self, query_BQH: Tensor, keys_BSA: Tensor, states_BSH: Tensor, keep_BS: Tensor) -> Tensor:
        """Return the contexts (B, Q, H); ``keys`` are ``self.key(states)``, made once per sentence."""
        scores_B1QS = self.score(self.query(query_BQH)[:, :, None], keys_BSA[:, :, None])
        return soft_lookup(scores_B1QS.squeeze(1), states_BSH, keep_BS)


class RecurrentDecoder(nn.Module):
    """A stack of cells, with or without a context for all but the lowest, and a map to d_model."""

    def __init__(self, cells: Iterable[Cell], dropout: Dropout, output: nn.Linear) -> None:
        super().__init__()
        self.cells = nn.ModuleList(cells)
        self.dropout = dropout
        self.output = output

    def forward(self, x_NTD: Tensor, states: list[CellState], attend: Attend | None) -> tuple[Tensor, list[CellState]]:
        """Return hidden states (N, T, D) and the cells' states after the last step."""
        lowest, *upper = cast(Iterable[Cell], self.cells)
        out_NTH, state = recur(lowest, x_NTD, states[0])
        x_NTH = self.dropout(out_NTH)
        context = [] if attend is None else [attend(x_NTH)]
        after = [state]
        for cell, before in zip(upper, states[1:], strict=True):
            out_NTH, state = recur(cell, torch.cat((x_NTH, *context), -1), before)
            x_NTH = self.dropout.add_to(x_NTH, out_NTH)
            after.append(state)
        return self.output(torch.cat((x_NTH, *context), -1)), after


class RecurrentNetwork(Network[RecurrentMemory, BeamState]):
    """LSTM or GRU encoder and decoder. Padding is id 0 on both sides."""

    def __init__(
        self,
        source_input: StackInput,
        target_input: StackInput,
        encoder: RecurrentEncoder,
        bridges: Iterable[nn.Linear],
        decoder: RecurrentDecoder,
        attention: AdditiveAttention | None,
        output: nn.Module,
        parts: int,
    ) -> None:
        """``bridges`` map each layer's last encoder outputs to the ``parts`` tensors of its first decoder state."""
        super().__init__()
        self.source_input = source_input
        self.target_input = target_input
        self.encoder = encoder
        self.bridges = nn.ModuleList(bridges)
        self.decoder = decoder
        self.attention = attention
        self.output = output
        self.parts = parts

    def encode(self, source_BS: Tensor) -> RecurrentMemory:
        """Read source ids (B, S) int64."""
        return self.encoder(self.source_input(source_BS), source_BS != PAD)

    def decode(self, target_input_BT: Tensor, memory: RecurrentMemory) -> Tensor:
        """Return the hidden states (B, T, D) before the output projection; position t saw ids 0..t."""
        attend = self._attend(self._readable(memory))
        hidden_BTD, _ = self.decoder(self.target_input(target_input_BT), self._first_states(memory), attend)
        return hidden_BTD

    def start(self, memory: RecurrentMemory, max_length: int) -> BeamState:
        """Begin decoding with one empty beam per sentence."""
        history = [part for state in self._first_states(memory) for part in state]
        return BeamState(self._readable(memory), history, memory.keep.shape[0], max_length)

    def step(self, tokens_BK: Tensor, state: BeamState) -> Tensor:
        """Feed one token to every beam and return the hidden states (B, K, D) of that position.

        Raises:
            ValueError: tokens do not match the state's sentences and beams, or all positions are used.
        """
        state.check(tokens_BK)
        x_N1D = self.target_input(tokens_BK.reshape(-1, 1), state.position)
        states = [tuple(state.history[i : i + self.parts]) for i in range(0, len(state.history), self.parts)]
        hidden_N1D, after = self.decoder(x_N1D, states, self._attend(state.memory, tokens_BK.shape))
        state.advance([part for one in after for part in one])
        return hidden_N1D.view(*tokens_BK.shape, -1)

    def _first_states(self, memory: RecurrentMemory) -> list[CellState]:
        pairs = zip(self.bridges, memory.finals, strict=True)
        # cuDNN takes no strided state.
        return [
            tuple(part.contiguous() for part in torch.tanh(bridge(final_BH)).chunk(self.parts, -1))
            for bridge, final_BH in pairs
        ]

    def _readable(self, memory: RecurrentMemory) -> list[Tensor]:
        """Keys (B, S, A), states (B, S, H) and keep (B, S): what attention reads; nothing without it."""
        return [] if self.attention is None else [self.attention.key(memory.states), memory.states, memory.keep]

    def _attend(self, readable: list[Tensor], beams: tuple[int, ...] | None = None) -> Attend | None:
        """Attention for queries (B, T, H), or (B*K, 1, H) where ``beams`` is (B, K)."""
        attention = self.attention
        if attention is None:
            return None

        def attend(query_NTH: Tensor) -> Tensor:
            query_BQH = query_NTH if beams is None else query_NTH.view(*beams, -1)
            return attention(query_BQH, *readable).view_as(query_NTH)

        return attend
