"""The picture every tracked run shows: the same sentence of the development text, read by its own model."""

from __future__ import annotations

from pathlib import Path

from ablatable.analysis.attention.maps import Sentence, measure
from ablatable.analysis.attention.thumbnail import thumbnail
from ablatable.data.dataset import Dataset
from ablatable.errors import InputError
from ablatable.record.job import Job

_CHOSEN_FROM = 100
_WORDS = 5


def pictures(job: Job, dataset: Dataset) -> dict[str, Path]:
    """Draw the cross-attention, or else the self-attention, of a finished run with its reference.

    Returns:
        PNG files by name; none where the model has no attention heads, or the sentence too many pieces for a picture.
    """
    if job.experiment.model.architecture != "transformer":
        return {}
    try:
        made = measure(job.folder, job.cache, _sentence(dataset))
    except InputError:
        return {}  # a longer text than a picture has room for: nothing a run could be blamed for
    maps = made.maps[-1]
    path = job.folder / "analysis" / "tracked" / f"attention-{maps.kind}.png"
    thumbnail(maps, path)
    return {f"attention/{maps.kind}": path}


def _sentence(dataset: Dataset) -> Sentence:
    """The shortest of the first, by words and not by pieces: the same one whatever the tokenizer."""
    pairs = list(zip(dataset.sources("valid")[:_CHOSEN_FROM], dataset.references("valid"), strict=False))
    source, reference = min(pairs, key=lambda pair: (len(pair[0].split()) < _WORDS, len(" ".join(pair)), pair))
    return Sentence(source, reference, "the reference")
