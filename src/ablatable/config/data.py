"""Which text is read, and how it is cut into pieces (section 5.1)."""

from typing import Annotated, Literal, Self

from pydantic import ConfigDict, Field, model_validator
from pydantic.dataclasses import dataclass

from ablatable.config.axis import Axis, Effect, Needs, Operational, changes

_STRICT = ConfigDict(strict=True, extra="forbid", allow_inf_nan=False)
_FILES = Needs("data.corpus", one_of=("files",))
_LEARNED = Needs("tokenizer.kind", none_of=("byte",))
_BYTES = 256 + 4
_TEXT = changes(Effect.DATA)


@dataclass(frozen=True, kw_only=True, config=_STRICT)
class Tokenizer:
    """The pieces of text, taken from the training side only. The paper: shared BPE of about 37,000 pieces."""

    kind: Annotated[
        str,
        Field(description="What text is cut into."),
        Axis(
            "tokenizer",
            "5.1",
            _TEXT | {Effect.PARAMS},
            choices={
                "bpe": "Sennrich et al. 2016",
                "unigram": "Kudo 2018",
                "wordpiece": "Wu et al. 2016",
                "word": "Bahdanau et al. 2015",
                "character": "Lee et al. 2017",
                "byte": "Xue et al. 2022",
            },
        ),
    ] = "bpe"
    size: Annotated[
        int,
        Field(
            ge=8,
            le=1_000_000,
            description="Pieces in the vocabulary, the four special ones included; the most there may be for "
            "word and character, exactly so many otherwise.",
        ),
        _LEARNED,
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
        _LEARNED,
        Axis(
            "vocabularies",
            "5.1",
            _TEXT | {Effect.PARAMS},
            values=("shared", "separate"),
            companions={"separate": {"model.tying": "decoder"}},
        ),
    ] = "shared"
    normalisation: Annotated[
        Literal["identity", "nmt_nfkc"],
        Field(description="Text rewriting before the pieces; references are never rewritten."),
        Axis("normalisation", "5.1", _TEXT, values=("identity", "nmt_nfkc")),
    ] = "identity"

    @property
    def most_pieces(self) -> int:
        """Pieces of one vocabulary, the special ones included, as far as settings tell: text may have fewer words."""
        return _BYTES if self.kind == "byte" else self.size


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
    subword_sampling: Annotated[
        float | None,
        Field(
            gt=0,
            lt=1,
            description="Training sentences are cut anew at random in every epoch: by BPE with this share of merges "
            "left out, by the unigram model with segmentations drawn by their probability to this power. null: never.",
        ),
        Axis(
            "sub-word sampling",
            "5.1; Provilkov et al. 2020 (bpe), Kudo 2018 (unigram)",
            _TEXT,
            values=(None, 0.1),
            search=(0.02, 0.5, "log"),
        ),
        Needs("tokenizer.kind", one_of=("bpe", "unigram")),
    ] = None
    word_dropout: Annotated[
        float,
        Field(
            ge=0, lt=1, description="Rate at which a source piece is unknown in training, drawn anew in every epoch."
        ),
        Axis(
            "word dropout",
            "5.4; Bowman et al. 2016, section 3.1, who replace pieces of the decoder's input",
            _TEXT,
            values=(0.0, 0.1),
            search=(0.0, 0.3),
        ),
    ] = 0.0
    word_swap: Annotated[
        int,
        Field(
            ge=0,
            le=1000,
            description="Source pieces are shuffled in training, none moving further than this, anew in every epoch.",
        ),
        Axis(
            "word swap",
            "5.4; Lample et al. 2018, section 2.3, who shuffle words to be put in order again",
            _TEXT,
            values=(0, 3),
            search=(0, 5),
        ),
    ] = 0
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
