"""The architecture (section 3 of the paper). Defaults are the paper's base model."""

from typing import Annotated, Literal, Self

from pydantic import ConfigDict, Field, model_validator
from pydantic.dataclasses import dataclass

from ablatable.config.axis import Axis, Effect, Needs, changes

Position = Literal["sinusoidal", "learned", "none"]
PositionLayout = Literal["interleaved", "halves"]
Tying = Literal["three-way", "decoder", "source-target", "none"]

_SHAPE = changes(Effect.FORWARD, Effect.PARAMS)


@dataclass(frozen=True, kw_only=True, config=ConfigDict(strict=True, extra="forbid", allow_inf_nan=False))
class Model:
    """An encoder-decoder Transformer (Vaswani et al. 2017, section 3)."""

    layers: Annotated[
        int,
        Field(ge=1, le=64, description="Layers of the encoder and of the decoder."),
        Axis("N", "3.1", _SHAPE, values=(2, 4, 6, 8), scales="depth", search=(1, 8)),
    ] = 6
    d_model: Annotated[
        int,
        Field(ge=2, le=16384, description="Width of the residual stream."),
        Axis("d_model", "3.1", _SHAPE, values=(256, 512, 1024), scales="width", search=(64, 1024, "log")),
    ] = 512
    d_ff: Annotated[
        int,
        Field(ge=1, le=65536, description="Inner width of the feed-forward sub-layer."),
        Axis("d_ff", "3.3", _SHAPE, values=(1024, 2048, 4096), scales="width", search=(128, 4096, "log")),
    ] = 2048
    heads: Annotated[
        int,
        Field(ge=1, le=256, description="Attention heads, h."),
        Axis("h", "3.2.2", _SHAPE, values=(1, 4, 8, 16, 32), search=(1, 32, "log")),
    ] = 8
    d_k: Annotated[
        int | None,
        Field(ge=1, le=16384, description="Width of one head's queries and keys; null means d_model / heads."),
        Axis("d_k", "3.2.1", _SHAPE, values=(16, 32, 64), scales="width", search=(4, 128, "log")),
    ] = None
    d_v: Annotated[
        int | None,
        Field(ge=1, le=16384, description="Width of one head's values; null means d_model / heads."),
        Axis("d_v", "3.2.2", _SHAPE, values=(32, 64), scales="width", search=(4, 128, "log")),
    ] = None
    dropout: Annotated[
        float,
        Field(
            ge=0,
            lt=1,
            description="Rate on every sub-layer output before add & norm and on embedding + position sums.",
        ),
        Axis("P_drop", "5.4", changes(Effect.TRAIN_ONLY), values=(0.0, 0.1, 0.2, 0.3), search=(0.0, 0.4)),
    ] = 0.1
    position: Annotated[
        Position,
        Field(description="How order enters: added to the scaled embeddings of both stacks."),
        Axis(
            "position",
            "3.5",
            changes(Effect.FORWARD, Effect.PARAMS),
            values=("sinusoidal", "learned", "none"),
            sources={
                "sinusoidal": "Vaswani et al. 2017, section 3.5",
                "learned": "Gehring et al. 2017; Table 3 (E)",
                "none": "no order information besides the causal mask",
            },
        ),
    ] = "sinusoidal"
    position_layout: Annotated[
        PositionLayout,
        Field(description="Sine and cosine channels alternate, or fill the two halves (first public code)."),
        Axis("sinusoid layout", "3.5", changes(Effect.FORWARD), values=("interleaved", "halves")),
        Needs("model.position", one_of=("sinusoidal",)),
    ] = "interleaved"
    position_max: Annotated[
        int,
        Field(ge=2, le=65536, description="Rows of the learned position table."),
        Axis("learned positions", "3.5", changes(Effect.PARAMS), values=(512, 1024)),
        Needs("model.position", one_of=("learned",)),
    ] = 512
    attention_bias: Annotated[
        bool,
        Field(description="Biases in the query, key, value and output projections."),
        Axis("attention bias", "3.2.2", changes(Effect.PARAMS), values=(True, False)),
    ] = True
    tying: Annotated[
        Tying,
        Field(description="Which of source embedding, target embedding and output projection are one matrix."),
        Axis(
            "tying",
            "3.4",
            changes(Effect.PARAMS, Effect.INIT),
            values=("three-way", "decoder", "source-target", "none"),
            sources={
                "three-way": "Press & Wolf 2017; section 3.4",
                "decoder": "target embedding and output projection",
                "source-target": "the two embeddings, output projection apart",
                "none": "three matrices",
            },
        ),
    ] = "three-way"
    target_language_table: Annotated[
        bool,
        Field(description="The first public code's learned 32 x d_model table, one row added to the encoder input."),
        Axis(
            "target-language table",
            "first public code",
            changes(Effect.FORWARD, Effect.PARAMS),
            values=(True, False),
        ),
    ] = False
    norm_epsilon: Annotated[
        float,
        Field(gt=0, le=0.1, description="Added to the variance inside the root of layer normalisation."),
        Axis("norm epsilon", "3.1", changes(Effect.FORWARD), values=(1e-6, 1e-5, 1e-3)),
    ] = 1e-6

    @property
    def key_size(self) -> int:
        """d_k of one head, resolved."""
        return self.d_model // self.heads if self.d_k is None else self.d_k

    @property
    def value_size(self) -> int:
        """d_v of one head, resolved."""
        return self.d_model // self.heads if self.d_v is None else self.d_v

    @model_validator(mode="after")
    def _possible(self) -> Self:
        derived = [name for name, value in (("d_k", self.d_k), ("d_v", self.d_v)) if value is None]
        if derived and self.d_model % self.heads:
            missing = " and ".join(f"model.{name}" for name in derived)
            raise ValueError(
                f"model.heads={self.heads} does not divide model.d_model={self.d_model}; "
                f"choose a divisor, or set {missing}"
            )
        if self.position == "sinusoidal" and self.d_model % 2:
            raise ValueError(
                f"model.d_model={self.d_model} is odd and model.position=sinusoidal needs pairs of channels; "
                "choose an even width or other positions"
            )
        return self
