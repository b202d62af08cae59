"""The architecture (section 3 of the paper). Defaults are the paper's base model."""

from typing import Self

from pydantic import ConfigDict, model_validator
from pydantic.dataclasses import dataclass

from ablatable.config.model.attention import AttentionChoices
from ablatable.config.model.dropout import DropoutChoices
from ablatable.config.model.embedding import EmbeddingChoices
from ablatable.config.model.ffn import FeedForwardChoices
from ablatable.config.model.norm import NormChoices
from ablatable.config.model.position import POSITIONED, RELATIVE, PositionChoices
from ablatable.config.model.rivals import RivalChoices
from ablatable.config.model.shape import ShapeChoices


@dataclass(frozen=True, kw_only=True, config=ConfigDict(strict=True, extra="forbid", allow_inf_nan=False))
class Model(
    RivalChoices,
    DropoutChoices,
    FeedForwardChoices,
    NormChoices,
    EmbeddingChoices,
    PositionChoices,
    AttentionChoices,
    ShapeChoices,
):
    """An encoder-decoder (Vaswani et al. 2017, section 3, and its rivals); fields come from the last base on."""

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
        if self.architecture == "transformer":
            self._check_heads()
            self._check_norm()
            self._check_source()
        else:
            self._check_rival()
        if self.architecture in POSITIONED:
            self._check_position()
        return self

    def _check_heads(self) -> None:
        derived = [name for name, value in (("d_k", self.d_k), ("d_v", self.d_v)) if value is None]
        if derived and self.d_model % self.heads:
            missing = " and ".join(f"model.{name}" for name in derived)
            raise ValueError(
                f"model.heads={self.heads} does not divide model.d_model={self.d_model}; "
                f"choose a divisor, or set {missing}"
            )
        self._check_scale()
        if self.window is not None and self.window % 2 == 0:
            raise ValueError(
                f"model.window={self.window} is even and has no middle; choose {self.window - 1} or {self.window + 1}"
            )

    def _check_scale(self) -> None:
        factors = {"none": 1.0, "1/d_k": 1 / self.key_size, "1/sqrt(d_model)": self.d_model**-0.5}
        if self.score == "dot" and factors.get(self.score_scale) == self.key_size**-0.5:
            raise ValueError(
                f"model.score_scale={self.score_scale} is 1/sqrt(d_k) where d_k is {self.key_size} and model.d_model "
                f"is {self.d_model}; leave it out, or choose another scale, model.d_k or model.heads"
            )

    def _check_position(self) -> None:
        if self.position in RELATIVE and self.architecture != "transformer":
            raise ValueError(
                f"model.position={self.position} acts in self-attention and model.architecture={self.architecture} has "
                "none; choose sinusoidal, learned, index or none"
            )
        if self.position == "sinusoidal" and self.d_model % 2:
            raise ValueError(
                f"model.d_model={self.d_model} is odd and model.position=sinusoidal needs pairs of channels; "
                "choose an even width or other positions"
            )
        if self.position == "rope" and self.key_size % 2:
            raise ValueError(
                f"model.position=rope rotates pairs of channels and d_k is {self.key_size} (model.d_model="
                f"{self.d_model}, model.heads={self.heads}); choose an even model.d_k or other positions"
            )
        if self.position == "rope" and self.score == "additive":
            raise ValueError(
                "model.position=rope acts on the product of query and key and model.score=additive has none; choose "
                "model.score=dot or cosine, or other positions"
            )
        if self.position == "shaw" and self.score != "dot":
            raise ValueError(
                "model.position=shaw adds a vector to the key of a dot product and model.score="
                f"{self.score} is none; choose model.score=dot or other positions"
            )
        if self.position == "t5":
            self._check_buckets()

    def _check_buckets(self) -> None:
        if self.position_buckets % 2:
            raise ValueError(
                f"model.position_buckets={self.position_buckets} is odd and either direction has half of them; "
                f"choose {self.position_buckets - 1} or {self.position_buckets + 1}"
            )
        if self.position_distance <= self.position_buckets // 2:
            raise ValueError(
                f"model.position_distance={self.position_distance} ends within the {self.position_buckets // 2} "
                "buckets that hold one offset each; raise it above half of model.position_buckets"
            )

    def _check_source(self) -> None:
        if self.cross_attention:
            return
        if self.target_language_table:
            raise ValueError(
                "model.target_language_table=true adds to the encoder's input and model.cross_attention=false leaves "
                "no encoder; leave out model.target_language_table"
            )
        if self.tying == "source-target":
            raise ValueError(
                "model.tying=source-target ties the source embedding and model.cross_attention=false leaves none; "
                "choose model.tying=none, decoder or three-way"
            )

    def _check_norm(self) -> None:
        if self.norm == "none" and self.norm_placement not in ("post", "rezero"):
            raise ValueError(
                f"model.norm_placement={self.norm_placement} places a norm and model.norm=none has none; "
                "leave out model.norm_placement or choose a norm"
            )
