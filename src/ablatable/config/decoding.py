"""Search and evaluation (section 6.1)."""

from itertools import pairwise
from typing import Annotated, Literal

from pydantic import ConfigDict, Field, field_validator
from pydantic.dataclasses import dataclass

from ablatable.config.axis import Axis, Effect, Needs, changes

_STRICT = ConfigDict(strict=True, extra="forbid", allow_inf_nan=False)
_DECODE = changes(Effect.DECODE)


@dataclass(frozen=True, kw_only=True, config=_STRICT)
class Decoding:
    """Beam search with the length penalty of Wu et al. 2016, lp(Y) = ((5+|Y|)/6)^alpha."""

    beam: Annotated[
        int,
        Field(ge=1, le=1000, description="Hypotheses kept; 1 is greedy."),
        Axis("beam", "6.1", _DECODE, values=(1, 4, 8), search=(1, 10)),
    ] = 4
    length_penalty: Annotated[
        float,
        Field(ge=-5, le=10, description="alpha."),
        Axis("alpha", "6.1", _DECODE, values=(0.0, 0.6, 1.0), search=(0.0, 1.5)),
        Needs("decode.beam", above=1),
    ] = 0.6
    length_counts_eos: Annotated[
        bool,
        Field(description="Whether |Y| counts the end-of-sentence token, for finished and unfinished alike."),
        Axis("|Y| counts EOS", "6.1", _DECODE, values=(True, False)),
        Needs("decode.length_penalty", none_of=(0,)),
    ] = True
    extra_tokens: Annotated[
        int,
        Field(ge=0, le=10_000, description="Longest output beyond the source length, in pieces."),
        Axis("length cap", "6.1", _DECODE, values=(50,)),
    ] = 50


@dataclass(frozen=True, kw_only=True, config=_STRICT)
class Evaluation:
    """What is decoded and scored when training ends."""

    splits: Annotated[
        tuple[Literal["valid", "test"], ...],
        Field(min_length=1, description="Splits to translate and score; select on valid, score test once."),
    ] = ("valid",)
    sentences: Annotated[
        int | None,
        Field(ge=1, description="Translate only the first so many sentences of a split; null means all."),
    ] = None
    checkpoint: Annotated[
        str,
        Field(description="The weights that are scored."),
        Axis(
            "checkpoint",
            "6.1",
            _DECODE,
            choices={
                "last": "Vaswani et al. 2017, section 6.1: the last, or the average of train.average_last",
                "best": "Prechelt 1998: the one of the lowest validation NLL",
                "ema": "Kingma & Ba 2015, section 7.2: the running average over all updates, see train.ema_decay",
            },
        ),
    ] = "last"
    length_buckets: Annotated[
        tuple[Annotated[int, Field(ge=1, le=100_000)], ...],
        Field(
            description="Longest sentences of buckets also scored by themselves, in pieces of the longer side, "
            "as data.max_length counts; [20, 40] makes 1-20, 21-40 and longer. Empty: no buckets."
        ),
    ] = ()

    @property
    def buckets(self) -> tuple[str, ...]:
        """Names of the buckets, short to long, the last being ``longer``; none without ``length_buckets``."""
        firsts = (1, *(bound + 1 for bound in self.length_buckets))
        named = [f"{first}-{last}" for first, last in zip(firsts, self.length_buckets, strict=False)]
        return (*named, "longer") if named else ()

    @field_validator("length_buckets")
    @classmethod
    def _rising(cls, bounds: tuple[int, ...]) -> tuple[int, ...]:
        if any(low >= high for low, high in pairwise(bounds)):
            raise ValueError("the bounds of the buckets rise from short to long, each once")
        return bounds

    @field_validator("splits")
    @classmethod
    def _distinct(cls, splits: tuple[Literal["valid", "test"], ...]) -> tuple[Literal["valid", "test"], ...]:
        """Each once, in one order: it is the same run whichever is named first."""
        if len(set(splits)) != len(splits):
            raise ValueError("evaluate.splits names a split twice")
        return tuple(sorted(splits, reverse=True))
