"""The feed-forward bag of words."""

from __future__ import annotations

from ablatable.config.model import Model
from ablatable.nn.bag import WINDOWS, BagDecoder, BagNetwork
from ablatable.nn.build.embeddings import embeddings
from ablatable.nn.build.orderless import orderless_input
from ablatable.nn.dropout import Dropout
from ablatable.nn.linear import linear


def bag(model: Model, source_vocabulary: int, target_vocabulary: int) -> BagNetwork:
    """A decoder of ``model.layers`` hidden layers over means and windows; parameters are not set yet."""
    source, target, output = embeddings(model, source_vocabulary, target_vocabulary)
    width, hidden = model.d_model, model.rival_size
    return BagNetwork(
        source_input=orderless_input(model, source),
        target_input=orderless_input(model, target),
        window=WINDOWS[model.bag],
        past=model.bag_window - 1,
        decoder=BagDecoder(
            source=linear(width, hidden, bias=False),
            target=linear(model.bag_places * width, hidden, bias=True),
            hidden=[linear(hidden, hidden, bias=True) for _ in range(model.layers - 1)],
            out=linear(hidden, width, bias=True),
            dropout=Dropout(model.dropout),
        ),
        output=output,
    )
