"""A feed-forward bag of words: the floor of a comparison.

The source is the mean of its embeddings, without order (the bag-of-words encoder of Rush et al. 2015, section 3.2). The
decoder is the neural language model of Bengio et al. 2003 with that mean beside the previous target embeddings: hidden
layers of width H with tanh, then a linear map to d_model. It sees no more of the target than its window.

Dropout: on the embeddings and on each hidden layer.

Shapes: B sentences, S source, T target, K beams, N sequences, D d_model, H width, W window, P = W - 1 past positions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from ablatable.nn.beams import BeamState
from ablatable.nn.dropout import Dropout
from ablatable.nn.embeddings import PAD, StackInput
from ablatable.nn.network import Network

Window = Callable[[list[Tensor], int], Tensor]
"""From the W shifted copies (N, T, D) of the embeddings, oldest first, zero before the start, and the position of the
first of the T, to what the first layer reads."""


@dataclass(frozen=True)
class BagMemory:
    """The mean (B, D) of a sentence's embeddings."""

    mean: Tensor


def concatenated(places: list[Tensor], offset: int) -> Tensor:
    """The embeddings side by side, (N, T, W * D) (Bengio et al. 2003)."""
    return torch.cat(places, dim=-1)


def averaged(places: list[Tensor], offset: int) -> Tensor:
    """The mean of those there are, (N, T, D): position t has t + 1 of them, at most W."""
    total_NTD = torch.stack(places).sum(dim=0)
    seen_T = torch.arange(offset + 1, offset + 1 + total_NTD.shape[1], device=total_NTD.device).clamp(max=len(places))
    return total_NTD / seen_T[:, None]


WINDOWS: dict[str, Window] = {"average": averaged, "concatenate": concatenated}
"""What is read of the window, by ``model.bag``."""


class BagDecoder(nn.Module):
    """The feed-forward network. ``source`` and ``target`` are the two parts of its first matrix."""

    def __init__(
        self, source: nn.Linear, target: nn.Linear, hidden: Iterable[nn.Linear], out: nn.Linear, dropout: Dropout
    ) -> None:
        super().__init__()
        self.source = source
        self.target = target
        self.hidden = nn.ModuleList(hidden)
        self.out = out
        self.dropout = dropout

    def forward(self, read_BQR: Tensor, source_BH: Tensor) -> Tensor:
        """Map what was read of each window, (B, Q, W * D or D), and the projected source to (B, Q, D)."""
        x_BQH = self.dropout(torch.tanh_(self.target(read_BQR) + source_BH[:, None]))
        for layer in self.hidden:
            x_BQH = self.dropout(torch.tanh_(layer(x_BQH)))
        return self.out(x_BQH)


class BagNetwork(Network[BagMemory, BeamState]):
    """Bag of words to text. Padding is id 0 on both sides."""

    def __init__(
        self,
        source_input: StackInput,
        target_input: StackInput,
        window: Window,
        past: int,
        decoder: BagDecoder,
        output: nn.Module,
    ) -> None:
        """``past`` is P, the positions that the window holds besides the current one."""
        super().__init__()
        self.source_input = source_input
        self.target_input = target_input
        self.window = window
        self.past = past
        self.decoder = decoder
        self.output = output

    def encode(self, source_BS: Tensor) -> BagMemory:
        """Read source ids (B, S) int64; the order of the pieces changes nothing but rounding."""
        keep_BS1 = (source_BS != PAD)[..., None]
        total_BD = self.source_input(source_BS).masked_fill(~keep_BS1, 0.0).sum(dim=1)
        return BagMemory(total_BD / keep_BS1.sum(dim=1).clamp(min=1))

    def decode(self, target_input_BT: Tensor, memory: BagMemory) -> Tensor:
        """Return the hidden states (B, T, D) before the output projection; position t saw ids t - P to t."""
        embedded_BTD = self.target_input(target_input_BT)
        read_BTR, _ = self._read(embedded_BTD, self._nothing(embedded_BTD), 0)
        return self.decoder(read_BTR, self.decoder.source(memory.mean))

    def start(self, memory: BagMemory, max_length: int) -> BeamState:
        """Begin decoding with one empty beam per sentence."""
        source_BH = self.decoder.source(memory.mean)
        return BeamState([source_BH], [self._nothing(memory.mean[:, None])], len(source_BH), max_length)

    def step(self, tokens_BK: Tensor, state: BeamState) -> Tensor:
        """Feed one token to every beam and return the hidden states (B, K, D) of that position.

        Raises:
            ValueError: tokens do not match the state's sentences and beams, or all positions are used.
        """
        state.check(tokens_BK)
        embedded_N1D = self.target_input(tokens_BK.reshape(-1, 1), state.position)
        read_N1R, past_NPD = self._read(embedded_N1D, state.history[0], state.position)
        state.advance([past_NPD])
        return self.decoder(read_N1R.view(*tokens_BK.shape, -1), state.memory[0])

    def _nothing(self, like_NTD: Tensor) -> Tensor:
        """What lies before the first position: zeros (N, P, D)."""
        return like_NTD.new_zeros(like_NTD.shape[0], self.past, like_NTD.shape[-1])

    def _read(self, embedded_NTD: Tensor, past_NPD: Tensor, offset: int) -> tuple[Tensor, Tensor]:
        """What the first layer reads at each position, and the past of the next one."""
        inputs = torch.cat((past_NPD, embedded_NTD), dim=1)
        length = embedded_NTD.shape[1]
        places = [inputs[:, place : place + length] for place in range(self.past + 1)]
        return self.window(places, offset), inputs[:, length:]
