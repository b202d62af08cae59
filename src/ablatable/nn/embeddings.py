"""Token embeddings, the input of a stack and the output projection (section 3.4)."""

from __future__ import annotations

import math

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from ablatable.nn.count import TARGET_LANGUAGES
from ablatable.nn.dropout import Dropout
from ablatable.nn.initial import scaled_normal

PAD = 0
_TARGET_LANGUAGE = 0


class Embedding(nn.Module):
    """One row per piece, multiplied by sqrt(d_model) where ``scaled``.

    The pad row starts at zero and looking it up never gives it a gradient. Where the matrix is also the
    output projection, the row is trained as the logit of the pad class; masks keep it from every other
    position.
    """

    def __init__(self, vocabulary: int, d_model: int, scaled: bool = True, std: float | None = None) -> None:
        super().__init__()
        self.scale = math.sqrt(d_model) if scaled else 1.0
        self.std = std
        self.weight = nn.Parameter(torch.empty(vocabulary, d_model))

    def initial_values(self, name: str, shape: torch.Size, generator: torch.Generator) -> Tensor:
        """N(0, std^2), by default N(0, 1/d_model); the pad row is zero."""
        table = _table(shape, self.std, generator)
        table[PAD] = 0.0
        return table

    def forward(self, ids: Tensor) -> Tensor:
        """Look up int64 ``ids`` (...) to (..., D)."""
        return F.embedding(ids, self.weight, padding_idx=PAD) * self.scale


class TargetLanguage(nn.Module):
    """The first public code's 32 x d_model table of target languages, one row added to the encoder input.

    A run has one target language, which is row 0. Not scaled by sqrt(d_model).
    """

    def __init__(self, d_model: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.empty(TARGET_LANGUAGES, d_model))

    def initial_values(self, name: str, shape: torch.Size, generator: torch.Generator) -> Tensor:
        """N(0, 1/d_model)."""
        return scaled_normal(shape, generator)

    def forward(self, x_BTD: Tensor) -> Tensor:
        """Add the row of the run's target language to every position."""
        return x_BTD + self.weight[_TARGET_LANGUAGE]


class StackInput(nn.Module):
    """dropout(sqrt(d_model) * embedding [+ target language] + positions)."""

    def __init__(
        self,
        embedding: Embedding,
        positions: nn.Module,
        dropout: Dropout,
        language: TargetLanguage | None = None,
    ) -> None:
        super().__init__()
        self.embedding = embedding
        self.language = language
        self.positions = positions
        self.dropout = dropout

    def forward(self, ids_BT: Tensor, offset: int = 0) -> Tensor:
        """Embed ids (B, T), the first of which is at position ``offset``, to (B, T, D)."""
        x_BTD = self.embedding(ids_BT)
        if self.language is not None:
            x_BTD = self.language(x_BTD)
        return self.dropout(self.positions(x_BTD, offset))


class OwnOutput(nn.Module):
    """An output projection with a matrix (V, D) of its own. There is no bias."""

    def __init__(self, vocabulary: int, d_model: int, std: float | None = None) -> None:
        super().__init__()
        self.std = std
        self.weight = nn.Parameter(torch.empty(vocabulary, d_model))

    def initial_values(self, name: str, shape: torch.Size, generator: torch.Generator) -> Tensor:
        """N(0, std^2), by default N(0, 1/d_model)."""
        return _table(shape, self.std, generator)


def _table(shape: torch.Size, std: float | None, generator: torch.Generator) -> Tensor:
    if std is None:
        return scaled_normal(shape, generator)
    return torch.empty(shape).normal_(0.0, std, generator=generator)


class TiedOutput(nn.Module):
    """An output projection that is the matrix of an embedding.

    It holds the embedding and asks it for its matrix each time, rather than naming the Parameter twice, so
    that the two cannot come apart when weights are copied, assigned or loaded.
    """

    def __init__(self, embedding: Embedding) -> None:
        super().__init__()
        self.embedding = embedding

    @property
    def weight(self) -> nn.Parameter:
        """The embedding's matrix (V, D)."""
        return self.embedding.weight
