"""The input of stacks that no positions are added to: recurrence counts for itself, and a bag has no order."""

from __future__ import annotations

from ablatable.config.model import Model
from ablatable.nn.dropout import Dropout
from ablatable.nn.embeddings import Embedding, StackInput
from ablatable.nn.positions import NoPositions


def orderless_input(model: Model, embedding: Embedding) -> StackInput:
    """Embeddings with dropout."""
    return StackInput(embedding, NoPositions(), Dropout(model.embedding_dropout))
