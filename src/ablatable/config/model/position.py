"""How order enters (section 3.5)."""

from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import Field

from ablatable.config.axis import Axis, Effect, Needs, changes

POSITIONED = ("transformer", "convolutional")
"""Architectures that positions mean anything to: recurrence counts for itself, and a bag has no order."""
RELATIVE = ("rope", "alibi", "shaw", "t5")
"""Kinds that act in self-attention, which only the Transformer has."""
_ABSOLUTE = ("sinusoidal", "learned", "index")
_WAVES = Needs("model.position", one_of=("sinusoidal", "rope"))


@dataclass(frozen=True, kw_only=True)
class PositionChoices:
    """Positions of both stacks. Relative kinds act in self-attention only: source and target share no axis.

    Each stack has parameters of its own. What relative kinds add to a score is not multiplied by ``score_scale``, but
    for Shaw's vectors, which are part of the product.
    """

    position: Annotated[
        str,
        Field(description="How order enters both stacks."),
        Axis(
            "position",
            "3.5",
            changes(Effect.FORWARD, Effect.PARAMS),
            choices={
                "sinusoidal": "Vaswani et al. 2017, section 3.5: fixed sinusoids with the embeddings",
                "learned": "Gehring et al. 2017; Table 3 (E): a trained row per position with the embeddings",
                "index": "the position's number itself with the embeddings, one feature; added: times a trained row",
                "rope": "Su et al. 2021: queries and keys rotated by their positions",
                "alibi": "Press et al. 2022: scores lose a head's slope times the distance, in either direction",
                "shaw": "Shaw et al. 2018: trained vectors of clipped offsets on keys and values, in each layer",
                "t5": "Raffel et al. 2020: a trained bias a head for buckets of offsets, one table a stack",
                "none": "no order besides the causal mask",
            },
        ),
        Needs("model.architecture", one_of=POSITIONED),
    ] = "sinusoidal"
    position_combine: Annotated[
        Literal["add", "concatenate"],
        Field(description="Encodings are added to the embeddings, or set beside them and projected back to d_model."),
        Axis("position combined", "3.5", changes(Effect.FORWARD, Effect.PARAMS), values=("add", "concatenate")),
        Needs("model.position", one_of=_ABSOLUTE),
    ] = "add"
    position_layout: Annotated[
        Literal["interleaved", "halves"],
        Field(description="Sine and cosine channels (pairs, in RoPE) alternate, or fill the two halves."),
        Axis("sinusoid layout", "3.5", changes(Effect.FORWARD), values=("interleaved", "halves")),
        _WAVES,
    ] = "interleaved"
    position_base: Annotated[
        float,
        Field(gt=1, le=1e9, description="The longest wave is 2 pi times this."),
        Axis("wave base", "3.5", changes(Effect.FORWARD), values=(1000.0, 10000.0, 100000.0)),
        _WAVES,
    ] = 10000.0
    position_max: Annotated[
        int,
        Field(ge=2, le=65536, description="Rows of the learned position table."),
        Axis("learned positions", "3.5", changes(Effect.PARAMS), values=(512, 1024)),
        Needs("model.position", one_of=("learned",)),
    ] = 512
    position_slopes: Annotated[
        Literal["fixed", "learned"],
        Field(
            description="ALiBi's slopes: the geometric sequence, or logarithms trained from it, one a head and stack."
        ),
        Axis("ALiBi slopes", "3.5", changes(Effect.PARAMS), values=("fixed", "learned")),
        Needs("model.position", one_of=("alibi",)),
    ] = "fixed"
    position_clip: Annotated[
        int,
        Field(ge=1, le=4096, description="Offsets beyond this share one vector."),
        Axis("Shaw clip k", "3.5", changes(Effect.FORWARD, Effect.PARAMS), values=(2, 16, 64), search=(1, 64, "log")),
        Needs("model.position", one_of=("shaw",)),
    ] = 16
    position_buckets: Annotated[
        int,
        Field(
            ge=4,
            le=4096,
            description="Buckets of offsets, an even number; where the future is seen, half for either direction.",
        ),
        Axis("T5 buckets", "3.5", changes(Effect.FORWARD, Effect.PARAMS), values=(16, 32)),
        Needs("model.position", one_of=("t5",)),
    ] = 32
    position_distance: Annotated[
        int,
        Field(ge=2, le=65536, description="Offsets from this on share the last bucket."),
        Axis("T5 distance", "3.5", changes(Effect.FORWARD), values=(64, 128)),
        Needs("model.position", one_of=("t5",)),
    ] = 128
