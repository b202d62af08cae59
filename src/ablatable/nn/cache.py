"""What decoding keeps between steps.

Shapes: B sentences, K beams, N = B*K hypotheses, H heads, S source length, C capacity.
"""

from __future__ import annotations

from dataclasses import dataclass

from torch import Tensor

from ablatable.nn.beams import Beams
from ablatable.nn.masks import padding

_FIRST_CAPACITY = 32


@dataclass
class KeyValueCache:
    """Self-attention keys and values of every hypothesis; C doubles when full.

    They are held head by head, (N, H, C, d_k or d_v), as the matrix products read them, and handed out
    position by position, (N, length, H, d_k or d_v), as attention takes them.
    """

    used: int = 0
    keys: Tensor | None = None
    values: Tensor | None = None

    def append(self, keys: Tensor, values: Tensor) -> tuple[Tensor, Tensor]:
        """Add one position, (N, 1, H, d_k or d_v), and return views of all positions so far."""
        self.keys = _with_room(self.keys, keys, self.used)
        self.values = _with_room(self.values, values, self.used)
        self.keys[:, :, self.used] = keys[:, 0]
        self.values[:, :, self.used] = values[:, 0]
        self.used += 1
        return _by_position(self.keys[:, :, : self.used]), _by_position(self.values[:, :, : self.used])

    def select(self, hypotheses: Tensor) -> None:
        """Keep the given hypotheses, in that order; one may be named several times."""
        if self.keys is not None and self.values is not None:
            self.keys = _selected(self.keys, hypotheses, self.used)
            self.values = _selected(self.values, hypotheses, self.used)


def _with_room(held: Tensor | None, new: Tensor, used: int) -> Tensor:
    if held is not None and used < held.shape[2]:
        return held
    hypotheses, _, heads, width = new.shape
    grown = new.new_empty(hypotheses, heads, max(_FIRST_CAPACITY, 2 * used), width)
    if held is not None:
        grown[:, :, :used] = held
    return grown


def _selected(held: Tensor, hypotheses: Tensor, used: int) -> Tensor:
    chosen = held.new_empty(hypotheses.shape[0], *held.shape[1:])
    chosen[:, :, :used] = held[:, :, :used].index_select(0, hypotheses)
    return chosen


def _by_position(x: Tensor) -> Tensor:
    return x.transpose(1, 2)


class LayerState:
    """One decoder layer: cross-attention keys and values once per sentence, and the self-attention cache."""

    def __init__(self, memory: tuple[Tensor, Tensor] | None) -> None:
        """Take the projected encoder output, (B, S, H, d_k) and (B, S, H, d_v); None without cross-attention."""
        self.history = KeyValueCache()
        self._memory = None if memory is None else tuple(part.transpose(1, 2).contiguous() for part in memory)

    @property
    def memory(self) -> tuple[Tensor, Tensor] | None:
        """Keys (B, S, H, d_k) and values (B, S, H, d_v) for cross-attention."""
        if self._memory is None:
            return None
        keys, values = self._memory
        return _by_position(keys), _by_position(values)

    def select_sentences(self, sentences_M: Tensor) -> None:
        """Keep the given sentences' keys and values."""
        if self._memory is not None:
            self._memory = tuple(part.index_select(0, sentences_M) for part in self._memory)


class State(Beams):
    """The state of a Transformer's decoder.

    The K beams of a sentence lie on the query axis of cross-attention, so what the encoder gave is held
    once per sentence.
    """

    def __init__(self, layers: list[LayerState], keep_BS: Tensor, max_length: int) -> None:
        super().__init__(keep_BS.shape[0], max_length, keep_BS.device)
        self.layers = layers
        self.keep = keep_BS
        self.memory_mask = padding(keep_BS)

    def _select_hypotheses(self, hypotheses_N: Tensor) -> None:
        for layer in self.layers:
            layer.history.select(hypotheses_N)

    def _select_sentences(self, sentences_M: Tensor) -> None:
        for layer in self.layers:
            layer.select_sentences(sentences_M)
        self.keep = self.keep.index_select(0, sentences_M)
        self.memory_mask = padding(self.keep)
