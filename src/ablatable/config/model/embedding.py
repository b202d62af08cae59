"""Embeddings and the output projection (section 3.4)."""

from dataclasses import dataclass
from typing import Annotated

from pydantic import Field

from ablatable.config.axis import Axis, Effect, Needs, changes


@dataclass(frozen=True, kw_only=True)
class EmbeddingChoices:
    """Source embedding, target embedding and output projection."""

    tying: Annotated[
        str,
        Field(description="Which of source embedding, target embedding and output projection are one matrix."),
        Axis(
            "tying",
            "3.4",
            changes(Effect.PARAMS, Effect.INIT),
            choices={
                "three-way": "Press & Wolf 2017; section 3.4",
                "decoder": "target embedding and output projection",
                "source-target": "the two embeddings, output projection apart",
                "none": "three matrices",
            },
        ),
    ] = "three-way"
    embedding_scale: Annotated[
        bool,
        Field(description="Embeddings are multiplied by sqrt(d_model)."),
        Axis("sqrt(d_model)", "3.4", changes(Effect.FORWARD), values=(True, False)),
    ] = True
    embedding_std: Annotated[
        float | None,
        Field(gt=0, le=10, description="Standard deviation of initial embeddings; null means d_model^-0.5."),
        Axis("embedding std", "3.4", changes(Effect.INIT), values=(0.01, 0.02, 1.0), search=(0.005, 1.0, "log")),
    ] = None
    target_language_table: Annotated[
        bool,
        Field(description="The first public code's learned 32 x d_model table, one row added to the encoder input."),
        Axis(
            "target-language table",
            "first public code",
            changes(Effect.FORWARD, Effect.PARAMS),
            values=(True, False),
        ),
        Needs("model.architecture", one_of=("transformer",)),
    ] = False
