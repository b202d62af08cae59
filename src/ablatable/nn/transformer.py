"""The encoder-decoder Transformer (section 3.1), put together from parts it is given.

Shapes: B batch or sentences, S source, T target, K beams, D d_model, V target vocabulary.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import cast

from torch import Tensor, nn

from ablatable.nn.attention import CrossAttention, SelfAttention
from ablatable.nn.cache import LayerState, State
from ablatable.nn.embeddings import PAD, StackInput
from ablatable.nn.masks import Mask, padding, within
from ablatable.nn.network import Network


@dataclass(frozen=True)
class Memory:
    """What the encoder hands to the decoder: states (B, S, D), keep (B, S) bool and the mask made of it.

    Where nothing reads the source, there is no encoder and states are (B, S, 0).
    """

    states: Tensor
    keep: Tensor
    mask: Mask


class EncoderLayer(nn.Module):
    """Self-attention, then feed-forward (None: there is none), each inside a residual connection."""

    def __init__(
        self,
        self_attention: SelfAttention,
        self_residual: nn.Module,
        feed_forward: nn.Module | None,
        feed_forward_residual: nn.Module | None,
    ) -> None:
        super().__init__()
        self.self_attention = self_attention
        self.self_residual = self_residual
        self.feed_forward = feed_forward
        self.feed_forward_residual = feed_forward_residual

    def forward(self, x_BSD: Tensor, keep_BS: Tensor, mask: Mask) -> Tensor:
        """(B, S, D) to (B, S, D)."""
        x_BSD = self.self_residual(x_BSD, keep_BS, self.self_attention, mask)
        return _feed_forward(self, x_BSD, keep_BS)


class DecoderLayer(nn.Module):
    """Self-attention, attention to the encoder's output, feed-forward, each inside a residual.

    Where ``cross_attention`` or ``feed_forward`` is None, there is no such sub-layer.
    """

    def __init__(
        self,
        self_attention: SelfAttention,
        self_residual: nn.Module,
        cross_attention: CrossAttention | None,
        cross_residual: nn.Module | None,
        feed_forward: nn.Module | None,
        feed_forward_residual: nn.Module | None,
    ) -> None:
        super().__init__()
        self.self_attention = self_attention
        self.self_residual = self_residual
        self.cross_attention = cross_attention
        self.cross_residual = cross_residual
        self.feed_forward = feed_forward
        self.feed_forward_residual = feed_forward_residual

    def forward(self, x_BTD: Tensor, keep_BT: Tensor, mask: Mask, memory: Memory) -> Tensor:
        """(B, T, D) to (B, T, D)."""
        projected = self.project(memory)
        x_BTD = self.self_residual(x_BTD, keep_BT, self.self_attention, mask)
        x_BTD = self._cross(x_BTD, keep_BT, projected, memory.mask)
        return _feed_forward(self, x_BTD, keep_BT)

    def project(self, memory: Memory) -> tuple[Tensor, Tensor] | None:
        """Keys and values of the encoder's output; None without cross-attention."""
        return None if self.cross_attention is None else self.cross_attention.project(memory.states)

    def step(self, x_BKD: Tensor, state: LayerState, memory_mask: Mask) -> Tensor:
        """One new position of every beam, (B, K, D) to (B, K, D)."""
        x_N1D = x_BKD.flatten(0, 1).unsqueeze(1)
        x_N1D = self.self_residual(x_N1D, None, self.self_attention.step, state.history)
        x_BKD = self._cross(x_N1D.view_as(x_BKD), None, state.memory, memory_mask)
        return _feed_forward(self, x_BKD, None)

    def _cross(self, x_BTD: Tensor, keep_BT: Tensor | None, memory: tuple[Tensor, Tensor] | None, mask: Mask) -> Tensor:
        if self.cross_residual is None:
            return x_BTD
        return self.cross_residual(x_BTD, keep_BT, self.cross_attention, memory, mask)


def _feed_forward(layer: EncoderLayer | DecoderLayer, x_BTD: Tensor, keep_BT: Tensor | None) -> Tensor:
    if layer.feed_forward_residual is None:
        return x_BTD
    return layer.feed_forward_residual(x_BTD, keep_BT, layer.feed_forward)


class Encoder(nn.Module):
    """A stack of encoder layers and, where the placement of norms asks for one, a norm at its end."""

    def __init__(self, layers: Iterable[EncoderLayer], final_norm: nn.Module | None = None) -> None:
        super().__init__()
        self.layers = nn.ModuleList(layers)
        self.final_norm = final_norm

    def forward(self, x_BSD: Tensor, keep_BS: Tensor, mask: Mask) -> Tensor:
        """(B, S, D) to (B, S, D)."""
        for layer in self.layers:
            x_BSD = layer(x_BSD, keep_BS, mask)
        return x_BSD if self.final_norm is None else self.final_norm(x_BSD, keep_BS)


class Decoder(nn.Module):
    """A stack of decoder layers and, where the placement of norms asks for one, a norm at its end."""

    def __init__(self, layers: Iterable[DecoderLayer], final_norm: nn.Module | None = None) -> None:
        super().__init__()
        self.layers = nn.ModuleList(layers)
        self.final_norm = final_norm

    def forward(self, x_BTD: Tensor, keep_BT: Tensor, mask: Mask, memory: Memory) -> Tensor:
        """(B, T, D) to (B, T, D)."""
        for layer in self.layers:
            x_BTD = layer(x_BTD, keep_BT, mask, memory)
        return x_BTD if self.final_norm is None else self.final_norm(x_BTD, keep_BT)

    def start(self, memory: Memory) -> list[LayerState]:
        """Project the encoder's output once for every layer."""
        layers = cast(Iterable[DecoderLayer], self.layers)
        return [LayerState(layer.project(memory)) for layer in layers]

    def step(self, x_BKD: Tensor, state: State) -> Tensor:
        """One new position of every beam, (B, K, D) to (B, K, D)."""
        layers = cast(Iterable[DecoderLayer], self.layers)
        for layer, layer_state in zip(layers, state.layers, strict=True):
            x_BKD = layer.step(x_BKD, layer_state, state.memory_mask)
        return x_BKD if self.final_norm is None else self.final_norm(x_BKD, None)


class Transformer(Network[Memory, State]):
    """Source ids and target ids to hidden states and logits. Padding is id 0 on both sides.

    Without ``source_input`` and ``encoder`` (both None) the source is not read: a decoder without cross-attention.
    Self-attention of both stacks sees ``window`` positions (None: all); that of the decoder hides the future where
    ``causal``. Where it does not, training and :meth:`decode` see the whole target, each position its own answer too;
    :meth:`step` goes from left to right all the same, for there is no future yet.
    """

    def __init__(
        self,
        source_input: StackInput | None,
        target_input: StackInput,
        encoder: Encoder | None,
        decoder: Decoder,
        output: nn.Module,
        *,
        causal: bool = True,
        window: int | None = None,
    ) -> None:
        super().__init__()
        self.causal = causal
        self.window = window
        self.source_input = source_input
        self.target_input = target_input
        self.encoder = encoder
        self.decoder = decoder
        self.output = output

    def encode(self, source_BS: Tensor) -> Memory:
        """Read source ids (B, S) int64."""
        keep_BS = source_BS != PAD
        if self.encoder is None or self.source_input is None:
            states_BSD = self.output_weight.new_empty(*source_BS.shape, 0)
        else:
            seen = within(keep_BS, causal=False, window=self.window)
            states_BSD = self.encoder(self.source_input(source_BS), keep_BS, seen)
        return Memory(states_BSD, keep_BS, padding(keep_BS))

    def decode(self, target_input_BT: Tensor, memory: Memory) -> Tensor:
        """Return the hidden states (B, T, D) before the output projection; where causal, position t saw ids 0..t."""
        keep_BT = target_input_BT != PAD
        seen = within(keep_BT, self.causal, self.window)
        return self.decoder(self.target_input(target_input_BT), keep_BT, seen, memory)

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
        state.check(tokens_BK)
        x_N1D = self.target_input(tokens_BK.view(-1, 1), state.position)
        hidden_BKD = self.decoder.step(x_N1D.view(*tokens_BK.shape, -1), state)
        state.position += 1
        return hidden_BKD
