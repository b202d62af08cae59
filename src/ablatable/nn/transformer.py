"""The encoder-decoder Transformer (section 3.1), put together from parts it is given.

Shapes: B batch or sentences, S source, T target, K beams, D d_model, V target vocabulary.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import cast

import torch.nn.functional as F
from torch import Tensor, nn

from ablatable.nn.attention import CrossAttention, SelfAttention
from ablatable.nn.cache import LayerState, State
from ablatable.nn.embeddings import PAD, StackInput
from ablatable.nn.masks import Mask, causal, padding


@dataclass(frozen=True)
class Memory:
    """What the encoder hands to the decoder: states (B, S, D), keep (B, S) bool and the mask made of it."""

    states: Tensor
    keep: Tensor
    mask: Mask


class EncoderLayer(nn.Module):
    """Self-attention, then feed-forward, each inside a residual connection."""

    def __init__(
        self,
        self_attention: SelfAttention,
        self_residual: nn.Module,
        feed_forward: nn.Module,
        feed_forward_residual: nn.Module,
    ) -> None:
        super().__init__()
        self.self_attention = self_attention
        self.self_residual = self_residual
        self.feed_forward = feed_forward
        self.feed_forward_residual = feed_forward_residual

    def forward(self, x_BSD: Tensor, mask: Mask) -> Tensor:
        """(B, S, D) to (B, S, D)."""
        x_BSD = self.self_residual(x_BSD, self.self_attention, mask)
        return self.feed_forward_residual(x_BSD, self.feed_forward)


class DecoderLayer(nn.Module):
    """Causal self-attention, attention to the encoder's output, feed-forward, each inside a residual."""

    def __init__(
        self,
        self_attention: SelfAttention,
        self_residual: nn.Module,
        cross_attention: CrossAttention,
        cross_residual: nn.Module,
        feed_forward: nn.Module,
        feed_forward_residual: nn.Module,
    ) -> None:
        super().__init__()
        self.self_attention = self_attention
        self.self_residual = self_residual
        self.cross_attention = cross_attention
        self.cross_residual = cross_residual
        self.feed_forward = feed_forward
        self.feed_forward_residual = feed_forward_residual

    def forward(self, x_BTD: Tensor, mask: Mask, memory: Memory) -> Tensor:
        """(B, T, D) to (B, T, D)."""
        projected = self.cross_attention.project(memory.states)
        x_BTD = self.self_residual(x_BTD, self.self_attention, mask)
        x_BTD = self.cross_residual(x_BTD, self.cross_attention, projected, memory.mask)
        return self.feed_forward_residual(x_BTD, self.feed_forward)

    def step(self, x_BKD: Tensor, state: LayerState, memory_mask: Mask) -> Tensor:
        """One new position of every beam, (B, K, D) to (B, K, D)."""
        x_N1D = x_BKD.flatten(0, 1).unsqueeze(1)
        x_N1D = self.self_residual(x_N1D, self.self_attention.step, state.history)
        x_BKD = x_N1D.view_as(x_BKD)
        x_BKD = self.cross_residual(x_BKD, self.cross_attention, state.memory, memory_mask)
        return self.feed_forward_residual(x_BKD, self.feed_forward)


class Encoder(nn.Module):
    """A stack of encoder layers."""

    def __init__(self, layers: Iterable[EncoderLayer]) -> None:
        super().__init__()
        self.layers = nn.ModuleList(layers)

    def forward(self, x_BSD: Tensor, mask: Mask) -> Tensor:
        """(B, S, D) to (B, S, D)."""
        for layer in self.layers:
            x_BSD = layer(x_BSD, mask)
        return x_BSD


class Decoder(nn.Module):
    """A stack of decoder layers."""

    def __init__(self, layers: Iterable[DecoderLayer]) -> None:
        super().__init__()
        self.layers = nn.ModuleList(layers)

    def forward(self, x_BTD: Tensor, mask: Mask, memory: Memory) -> Tensor:
        """(B, T, D) to (B, T, D)."""
        for layer in self.layers:
            x_BTD = layer(x_BTD, mask, memory)
        return x_BTD

    def start(self, memory: Memory) -> list[LayerState]:
        """Project the encoder's output once for every layer."""
        layers = cast(Iterable[DecoderLayer], self.layers)
        return [LayerState(*layer.cross_attention.project(memory.states)) for layer in layers]

    def step(self, x_BKD: Tensor, state: State) -> Tensor:
        """One new position of every beam, (B, K, D) to (B, K, D)."""
        layers = cast(Iterable[DecoderLayer], self.layers)
        for layer, layer_state in zip(layers, state.layers, strict=True):
            x_BKD = layer.step(x_BKD, layer_state, state.memory_mask)
        return x_BKD


class Transformer(nn.Module):
    """Source ids and target ids to hidden states and logits. Padding is id 0 on both sides."""

    def __init__(
        self,
        source_input: StackInput,
        target_input: StackInput,
        encoder: Encoder,
        decoder: Decoder,
        output: nn.Module,
    ) -> None:
        super().__init__()
        self.source_input = source_input
        self.target_input = target_input
        self.encoder = encoder
        self.decoder = decoder
        self.output = output

    def encode(self, source_BS: Tensor) -> Memory:
        """Read source ids (B, S) int64."""
        keep_BS = source_BS != PAD
        mask = padding(keep_BS)
        return Memory(self.encoder(self.source_input(source_BS), mask), keep_BS, mask)

    def decode(self, target_input_BT: Tensor, memory: Memory) -> Tensor:
        """Return the hidden states (B, T, D) before the output projection; position t saw ids 0..t."""
        mask = causal(target_input_BT != PAD)
        return self.decoder(self.target_input(target_input_BT), mask, memory)

    @property
    def output_weight(self) -> nn.Parameter:
        """The output projection (V, D); the embedding's own Parameter where tied."""
        return cast(nn.Parameter, self.output.weight)

    def logits(self, hidden: Tensor) -> Tensor:
        """Return unnormalised scores (..., V) of hidden states (..., D)."""
        return F.linear(hidden, self.output_weight)

    def forward(self, source_BS: Tensor, target_input_BT: Tensor) -> Tensor:
        """Return the logits (B, T, V) of every target position."""
        return self.logits(self.decode(target_input_BT, self.encode(source_BS)))

    def start(self, memory: Memory, max_length: int) -> State:
        """Begin decoding with one empty beam per sentence.

        ``state.max_length`` is ``max_length``, or less where the positions cannot represent as many.
        """
        limit = cast(int | None, self.target_input.positions.limit)
        reachable = max_length if limit is None else min(max_length, limit)
        return State(self.decoder.start(memory), memory.keep, reachable)

    def step(self, tokens_BK: Tensor, state: State) -> Tensor:
        """Feed one token to every beam and return the hidden states (B, K, D) of that position.

        Raises:
            ValueError: tokens do not match the state's sentences and beams, or all positions are used.
        """
        if tokens_BK.shape != (state.sentences, state.beams):
            raise ValueError(f"tokens {tuple(tokens_BK.shape)}, state {(state.sentences, state.beams)}")
        if state.position >= state.max_length:
            raise ValueError(f"all {state.max_length} positions of the state are used")
        x_N1D = self.target_input(tokens_BK.view(-1, 1), state.position)
        hidden_BKD = self.decoder.step(x_N1D.view(*tokens_BK.shape, -1), state)
        state.position += 1
        return hidden_BKD
