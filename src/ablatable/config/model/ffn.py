"""The position-wise feed-forward sub-layer (section 3.3)."""

from dataclasses import dataclass
from typing import Annotated

from pydantic import Field

from ablatable.config.axis import Axis, Effect, Needs, changes

SOME_FFN = Needs("model.ffn", none_of=("none",))


@dataclass(frozen=True, kw_only=True)
class FeedForwardChoices:
    """The sub-layer between attention sub-layers."""

    ffn: Annotated[
        str,
        Field(description="The feed-forward sub-layer."),
        Axis(
            "feed-forward",
            "3.3",
            changes(Effect.FORWARD, Effect.PARAMS),
            choices={
                "relu": "Vaswani et al. 2017, section 3.3",
                "gelu": "Hendrycks & Gimpel 2016, the exact form y Phi(y)",
                "swiglu": "Shazeer 2020, with biases and inner width round(2/3 d_ff), so that the parameters match",
                "conv1x1": "section 3.3: two convolutions of kernel size 1, the same function as relu",
                "none": "no feed-forward sub-layer",
            },
        ),
        Needs("model.architecture", one_of=("transformer",)),
    ] = "relu"
    d_ff: Annotated[
        int,
        Field(ge=1, le=65536, description="Inner width of the feed-forward sub-layer."),
        Axis(
            "d_ff",
            "3.3",
            changes(Effect.FORWARD, Effect.PARAMS),
            values=(1024, 2048, 4096),
            scales="width",
            search=(128, 4096, "log"),
        ),
        SOME_FFN,
    ] = 2048

    @property
    def ffn_matrices(self) -> int:
        """Matrices between d_model and the inner width: there and back, and one more for a gate."""
        return {"swiglu": 3, "none": 0}.get(self.ffn, 2)

    @property
    def ffn_width(self) -> int:
        """Inner width, resolved: three matrices of 2/3 d_ff hold as much as two of d_ff."""
        return round(2 * self.d_ff / 3) if self.ffn_matrices == 3 else self.d_ff
