"""From ``config.model`` to a network: what choices a part has it reads itself, the rest is put together here."""

from __future__ import annotations

from collections.abc import Callable

from ablatable.config.model import Model
from ablatable.nn.build.bag import bag
from ablatable.nn.build.convolutional import convolutional
from ablatable.nn.build.recurrent import recurrent
from ablatable.nn.build.transformer import transformer
from ablatable.nn.init import initialise
from ablatable.nn.network import AnyNetwork

KINDS: dict[str, Callable[[Model, int, int], AnyNetwork]] = {
    "transformer": transformer,
    "rnn": recurrent,
    "convolutional": convolutional,
    "bag": bag,
}
"""Builders by ``model.architecture``; each takes the vocabulary sizes of source and target."""


def build_model(model: Model, source_vocabulary: int, target_vocabulary: int, seed: int) -> AnyNetwork:
    """Build the network that ``model`` describes, with initial values from ``seed`` and the parameters' names.

    The global random generator is not touched.

    Raises:
        InputError: embeddings tied over vocabularies of different size.
    """
    network = KINDS[model.architecture](model, source_vocabulary, target_vocabulary)
    initialise(network, seed)
    return network
