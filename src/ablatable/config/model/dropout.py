"""Where dropout acts (section 5.4)."""

from dataclasses import dataclass
from typing import Annotated

from pydantic import Field

from ablatable.config.axis import Axis, Effect, Needs, changes

_TRAIN_ONLY = changes(Effect.TRAIN_ONLY)
_RATES = (0.0, 0.1, 0.2, 0.3)


@dataclass(frozen=True, kw_only=True)
class DropoutChoices:
    """One rate per place."""

    dropout: Annotated[
        float,
        Field(
            ge=0,
            lt=1,
            description="Rate on every sub-layer output before add & norm and on embedding + position sums.",
        ),
        Axis("P_drop", "5.4", _TRAIN_ONLY, values=_RATES, search=(0.0, 0.4)),
    ] = 0.1
    dropout_embedding: Annotated[
        float | None,
        Field(ge=0, lt=1, description="Rate on embedding + position sums, where it is not model.dropout's (null)."),
        Axis("P_drop, embeddings", "5.4", _TRAIN_ONLY, values=(0.0, 0.2, 0.3), search=(0.0, 0.4)),
    ] = None
    dropout_attention: Annotated[
        float,
        Field(ge=0, lt=1, description="Rate on the attention weights."),
        Axis("P_drop, attention", "5.4", _TRAIN_ONLY, values=_RATES, search=(0.0, 0.4)),
        Needs("model.architecture", one_of=("transformer",)),
    ] = 0.0
    dropout_ffn: Annotated[
        float,
        Field(ge=0, lt=1, description="Rate inside the feed-forward sub-layer, after its activation."),
        Axis("P_drop, FFN", "5.4", _TRAIN_ONLY, values=_RATES, search=(0.0, 0.4)),
        Needs("model.ffn", none_of=("none",)),
    ] = 0.0

    @property
    def embedding_dropout(self) -> float:
        """The rate on embedding + position sums, resolved."""
        return self.dropout if self.dropout_embedding is None else self.dropout_embedding
