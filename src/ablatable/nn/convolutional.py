"""The convolutional encoder-decoder (Gehring et al. 2017).

Both stacks map the embeddings (with positions) to C channels, and a layer is x' = (x + GLU(conv(x))) sqrt(1/2); the
encoder's windows are centred, the decoder's end at the position itself. A decoder layer asks the encoder between gate
and residual sum: query (W h + b + g) sqrt(1/2), g the embedded target; keys z, the encoder's output mapped to d_model;
values (z + e) sqrt(1/2), e the embedded source; the context, times sqrt(number of source pieces), is mapped to channels
and added, (h + context) sqrt(1/2).

Where this differs from the publication: no weight normalisation, no scaling of the encoder's gradients; scores are
divided by sqrt(d_model), because embeddings here have variance 1, not 0.01.

Dropout: on the embeddings, on what each convolution reads, on the decoder's output.

Shapes: B sentences, S source, T target, K beams, N sequences, D d_model, C channels, P = kernel - 1 past positions.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import cast

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from ablatable.nn.beams import BeamState
from ablatable.nn.dropout import Dropout
from ablatable.nn.embeddings import PAD, StackInput
from ablatable.nn.lookup import soft_lookup
from ablatable.nn.network import Network

_HALF = math.sqrt(0.5)
"""Keeps the variance of a sum of two."""

Attend = Callable[[Tensor], Tensor]
"""From queries (N, T, D) to contexts of the same shape."""


@dataclass(frozen=True)
class ConvolutionalMemory:
    """What the encoder hands on: keys z (B, S, D), values (B, S, D) and keep (B, S) bool."""

    keys: Tensor
    values: Tensor
    keep: Tensor


class GatedConvolution(nn.Module):
    """GLU(W x_window + b): half of the 2 C outputs, times the sigmoid of the other half (Dauphin et al. 2017).

    The windows are laid side by side for one matrix product, which a step of one window shares.
    """

    def __init__(self, channels: int, kernel: int) -> None:
        super().__init__()
        self.kernel = kernel
        self.weight = nn.Parameter(torch.empty(2 * channels, kernel * channels))
        self.bias = nn.Parameter(torch.empty(2 * channels))

    def initial_values(self, name: str, shape: torch.Size, generator: torch.Generator) -> Tensor:
        """Weights N(0, 4 / (kernel C)), about what keeps the variance through the gate; bias 0.

        Gehring et al. 2017, section 3.5, where it is times 1 - dropout; here dropout changes no initial value.
        """
        if name == "bias":
            return torch.zeros(shape)
        return torch.empty(shape).normal_(0.0, math.sqrt(4.0 / shape[1]), generator=generator)

    def forward(self, x_NTC: Tensor) -> Tensor:
        """(N, T + kernel - 1, C) to (N, T, C); output t reads inputs t to t + kernel - 1."""
        length = x_NTC.shape[1] - self.kernel + 1
        windows = torch.cat([x_NTC[:, place : place + length] for place in range(self.kernel)], dim=-1)
        return F.glu(F.linear(windows, self.weight, self.bias), dim=-1)


class ConvolutionalEncoder(nn.Module):
    """Embeddings to keys and values; positions that hold no text are zero wherever a window reads them."""

    def __init__(
        self, into: nn.Linear, convolutions: Iterable[GatedConvolution], out: nn.Linear, dropout: Dropout
    ) -> None:
        super().__init__()
        self.into = into
        self.convolutions = nn.ModuleList(convolutions)
        self.out = out
        self.dropout = dropout

    def forward(self, embedded_BSD: Tensor, keep_BS: Tensor) -> ConvolutionalMemory:
        """Read embeddings (B, S, D)."""
        x_BSC = self.into(embedded_BSD)
        for convolution in cast(Iterable[GatedConvolution], self.convolutions):
            beside = convolution.kernel // 2
            text_BSC = self.dropout(x_BSC.masked_fill(~keep_BS[..., None], 0.0))
            x_BSC = (x_BSC + convolution(F.pad(text_BSC, (0, 0, beside, beside)))) * _HALF
        keys_BSD = self.out(x_BSC)
        return ConvolutionalMemory(keys_BSD, (keys_BSD + embedded_BSD) * _HALF, keep_BS)


class ConvolutionalDecoderLayer(nn.Module):
    """A causal gated convolution, then attention."""

    def __init__(self, convolution: GatedConvolution, query: nn.Linear, context: nn.Linear, dropout: Dropout) -> None:
        super().__init__()
        self.convolution = convolution
        self.query = query
        self.context = context
        self.dropout = dropout

    def forward(self, x_NTC: Tensor, past_NPC: Tensor, embedded_NTD: Tensor, attend: Attend) -> tuple[Tensor, Tensor]:
        """Return the outputs (N, T, C) and the last P inputs (N, P, C), which the next position needs."""
        inputs = torch.cat((past_NPC, self.dropout(x_NTC)), dim=1)
        h_NTC = self.convolution(inputs)
        context_NTD = attend((self.query(h_NTC) + embedded_NTD) * _HALF)
        h_NTC = (h_NTC + self.context(context_NTD)) * _HALF
        return (x_NTC + h_NTC) * _HALF, inputs[:, inputs.shape[1] - past_NPC.shape[1] :]


class ConvolutionalDecoder(nn.Module):
    """Embeddings to hidden states."""

    def __init__(
        self, into: nn.Linear, layers: Iterable[ConvolutionalDecoderLayer], out: nn.Linear, dropout: Dropout
    ) -> None:
        super().__init__()
        self.into = into
        self.layers = nn.ModuleList(layers)
        self.out = out
        self.dropout = dropout

    def forward(self, embedded_NTD: Tensor, pasts: list[Tensor], attend: Attend) -> tuple[Tensor, list[Tensor]]:
        """Return hidden states (N, T, D) and each layer's last inputs (N, P, C)."""
        x_NTC = self.into(embedded_NTD)
        after: list[Tensor] = []
        for layer, past_NPC in zip(self.layers, pasts, strict=True):
            x_NTC, past_NPC = layer(x_NTC, past_NPC, embedded_NTD, attend)
            after.append(past_NPC)
        return self.dropout(self.out(x_NTC)), after

    def nothing(self, like: Tensor, sequences: int) -> list[Tensor]:
        """The inputs before the first position of each layer: zeros (N, P, C), on the device of ``like``."""
        layers = cast(Iterable[ConvolutionalDecoderLayer], self.layers)
        channels = self.into.out_features
        return [like.new_zeros(sequences, layer.convolution.kernel - 1, channels) for layer in layers]


class ConvolutionalNetwork(Network[ConvolutionalMemory, BeamState]):
    """Gated convolutions with attention. Padding is id 0 on both sides."""

    def __init__(
        self,
        source_input: StackInput,
        target_input: StackInput,
        encoder: ConvolutionalEncoder,
        decoder: ConvolutionalDecoder,
        output: nn.Module,
    ) -> None:
        super().__init__()
        self.source_input = source_input
        self.target_input = target_input
        self.encoder = encoder
        self.decoder = decoder
        self.output = output

    def encode(self, source_BS: Tensor) -> ConvolutionalMemory:
        """Read source ids (B, S) int64."""
        return self.encoder(self.source_input(source_BS), source_BS != PAD)

    def decode(self, target_input_BT: Tensor, memory: ConvolutionalMemory) -> Tensor:
        """Return the hidden states (B, T, D) before the output projection; position t saw ids 0..t."""
        embedded_BTD = self.target_input(target_input_BT)
        pasts = self.decoder.nothing(embedded_BTD, len(target_input_BT))
        hidden_BTD, _ = self.decoder(embedded_BTD, pasts, _attend(memory))
        return hidden_BTD

    def start(self, memory: ConvolutionalMemory, max_length: int) -> BeamState:
        """Begin decoding with one empty beam per sentence.

        ``state.max_length`` is ``max_length``, or less where the positions cannot represent as many.
        """
        limit = cast(int | None, self.target_input.positions.limit)
        reachable = max_length if limit is None else min(max_length, limit)
        sentences = memory.keep.shape[0]
        held = [memory.keys, memory.values, memory.keep]
        return BeamState(held, self.decoder.nothing(memory.values, sentences), sentences, reachable)

    def step(self, tokens_BK: Tensor, state: BeamState) -> Tensor:
        """Feed one token to every beam and return the hidden states (B, K, D) of that position.

        Raises:
            ValueError: tokens do not match the state's sentences and beams, or all positions are used.
        """
        state.check(tokens_BK)
        attend = _attend(ConvolutionalMemory(*state.memory), tokens_BK.shape)
        embedded_N1D = self.target_input(tokens_BK.reshape(-1, 1), state.position)
        hidden_N1D, after = self.decoder(embedded_N1D, state.history, attend)
        state.advance(after)
        return hidden_N1D.view(*tokens_BK.shape, -1)


def _attend(memory: ConvolutionalMemory, beams: tuple[int, ...] | None = None) -> Attend:
    """Attention for queries (B, T, D), or (B*K, 1, D) where ``beams`` is (B, K)."""

    def attend(query_NTD: Tensor) -> Tensor:
        query_BQD = query_NTD if beams is None else query_NTD.view(*beams, -1)
        return context(query_BQD, memory).view_as(query_NTD)

    return attend


def context(query_BQD: Tensor, memory: ConvolutionalMemory) -> Tensor:
    """softmax(q z^T / sqrt(D)) v sqrt(m), m the pieces of the source; the factor undoes what averaging takes away."""
    scores_BQS = query_BQD @ memory.keys.transpose(1, 2) / math.sqrt(query_BQD.shape[-1])
    pieces_B11 = memory.keep.sum(dim=1, dtype=memory.values.dtype)[:, None, None]
    return soft_lookup(scores_BQS, memory.values, memory.keep) * pieces_B11.sqrt()
