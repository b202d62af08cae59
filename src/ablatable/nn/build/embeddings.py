"""Embeddings, output projection and the input of a stack."""

from __future__ import annotations

from torch import nn

from ablatable.config.model import Model
from ablatable.errors import InputError
from ablatable.nn.dropout import Dropout
from ablatable.nn.embeddings import Embedding, OwnOutput, StackInput, TargetLanguage, TiedOutput
from ablatable.nn.positions import KINDS, NoPositions
from ablatable.nn.relative import KINDS as RELATIVE_KINDS

TYING = {
    "three-way": (True, True),
    "decoder": (False, True),
    "source-target": (True, False),
    "none": (False, False),
}
"""By ``model.tying``: are the two embeddings one, is the output projection the target embedding."""


def embeddings(
    model: Model, source_vocabulary: int, target_vocabulary: int
) -> tuple[Embedding, Embedding, OwnOutput | TiedOutput]:
    """Source embedding, target embedding and output projection, tied as asked (section 3.4).

    Raises:
        InputError: tied over vocabularies of different size.
    """
    one_embedding, tied_output = TYING[model.tying]
    if one_embedding and source_vocabulary != target_vocabulary:
        raise InputError(
            f"model.tying={model.tying} needs one vocabulary, but the source has {source_vocabulary} pieces and "
            f"the target {target_vocabulary}; set tokenizer.sharing=shared, or model.tying to decoder or none"
        )
    source = _embedding(model, source_vocabulary)
    target = source if one_embedding else _embedding(model, target_vocabulary)
    output = TiedOutput(target) if tied_output else OwnOutput(target_vocabulary, model.d_model, model.embedding_std)
    return source, target, output


def _embedding(model: Model, vocabulary: int) -> Embedding:
    return Embedding(vocabulary, model.d_model, model.embedding_scale, model.embedding_std)


def source_input(model: Model, embedding: Embedding) -> StackInput:
    """The encoder's input."""
    language = TargetLanguage(model.d_model) if model.target_language_table else None
    return StackInput(embedding, _positions(model), Dropout(model.embedding_dropout), language)


def target_input(model: Model, embedding: Embedding) -> StackInput:
    """The decoder's input."""
    return StackInput(embedding, _positions(model), Dropout(model.embedding_dropout))


def _positions(model: Model) -> nn.Module:
    return NoPositions() if model.position in RELATIVE_KINDS else KINDS[model.position](model)
