"""Which text is read, and how it is cut into pieces (section 5.1)."""

from typing import Annotated, Literal, Self

from pydantic import ConfigDict, Field, model_validator
from pydantic.dataclasses import dataclass

from ablatable.config.axis import Axis, Effect, Needs, Operational, changes

_STRICT = ConfigDict(strict=True, extra="forbid", allow_inf_nan=False)
_FILES = Needs("data.corpus", one_of=("files",))
_TEXT = changes(Effect.DATA)


@dataclass(frozen=True, kw_only=True, config=_STRICT)
class Tokenizer:
    """Sub-word vocabulary, trained on the training side only. The paper: shared BPE of about 37,000 pieces."""

    kind: Annotated[
        Literal["bpe", "unigram"],
        Field(description="Sub-word algorithm."),
        Axis(
            "tokenizer",
            "5.1",
            _TEXT,
            values=("bpe", "unigram"),
            choices={"bpe": "Sennrich et al. 2016", "unigram": "Kudo 2018"},
        ),
    ] = "bpe"
    size: Annotated[
        int,
        Field(ge=8, le=1_000_000, description="Pieces in the vocabulary, the four special ones included."),
        Axis(
            "V",
            "5.1",
            _TEXT | {Effect.PARAMS},
            values=(8000, 16000, 37000),
            scales="vocabulary",
            search=(1000, 37000, "log"),
        ),
    ] = 37000
    sharing: Annotated[
        Literal["shared", "separate"],
        Field(description="One vocabulary over both languages, or one per language."),
        Axis("vocabularies", "5.1", _TEXT | {Effect.PARAMS}, values=("shared", "separate")),
    ] = "shared"
    normalisation: Annotated[
        Literal["identity", "nmt_nfkc"],
        Field(description="Text rewriting before the pieces; references are never rewritten."),
        Axis("normalisation", "5.1", _TEXT, values=("identity", "nmt_nfkc")),
    ] = "identity"


@dataclass(frozen=True, kw_only=True, config=_STRICT)
class Data:
    """The parallel text."""

    corpus: Annotated[str, Field(description="Name of a corpus; `ablatable corpus list` shows them.")] = "wmt14-en-de"
    train_pairs: Annotated[
        int | None,
        Field(ge=1, description="Only the first so many training pairs; null means all."),
        Axis("training pairs", "5.1", _TEXT, scales="pairs"),
    ] = None
    max_length: Annotated[
        int,
        Field(
            ge=1,
            le=100_000,
            description="Training pairs with a longer side (in pieces) are dropped and counted.",
        ),
        Axis("longest sentence", "5.1", _TEXT, values=(100, 256)),
    ] = 256
    files_languages: Annotated[
        str | None, Field(pattern=r"^[a-z]{2,3}-[a-z]{2,3}$", description="Such as en-de."), _FILES
    ] = None
    files_source_train: Annotated[str | None, Field(description="Source side, training."), _FILES, Operational()] = None
    files_target_train: Annotated[str | None, Field(description="Target side, training."), _FILES, Operational()] = None
    files_source_valid: Annotated[str | None, Field(description="Source side, development."), _FILES, Operational()] = (
        None
    )
    files_target_valid: Annotated[str | None, Field(description="Target side, development."), _FILES, Operational()] = (
        None
    )
    files_source_test: Annotated[str | None, Field(description="Source side, test."), _FILES, Operational()] = None
    files_target_test: Annotated[str | None, Field(description="Target side, test."), _FILES, Operational()] = None
    files_overlap: Annotated[
        Literal["refuse", "allow"],
        Field(description="What to do when held-out pairs are also in training: refuse, or count and report."),
        _FILES,
        Operational(),
    ] = "refuse"

    @model_validator(mode="after")
    def _files_named(self) -> Self:
        if self.corpus != "files":
            return self
        needed = (
            "files_languages",
            "files_source_train",
            "files_target_train",
            "files_source_valid",
            "files_target_valid",
        )
        missing = [f"data.{name}" for name in needed if getattr(self, name) is None]
        if missing:
            raise ValueError(f"data.corpus=files needs {', '.join(missing)}")
        if (self.files_source_test is None) != (self.files_target_test is None):
            raise ValueError("data.files_source_test and data.files_target_test go together")
        return self
