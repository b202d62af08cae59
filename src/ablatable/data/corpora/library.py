"""Get a corpus by name: from the cache where it is there, else made once, whole or not at all."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from ablatable.config.catalogue import CORPORA, CorpusEntry, check_corpus
from ablatable.config.data import Data
from ablatable.data.corpora import debian_union, descriptions, ding, files, hub, lohelp, manpages, synthetic
from ablatable.data.corpora.corpus import Corpus, Draft, open_corpus, read_card, write
from ablatable.data.corpora.harvest import Harvest, draft
from ablatable.data.corpora.storage import ELSEWHERE, Say, build_folder, locked, to_stderr
from ablatable.data.corpora.toy import RECIPE as TOY_RECIPE
from ablatable.errors import InputError
from ablatable.record.files import disk_errors


@dataclass(frozen=True)
class Maker:
    """How a corpus is made: the number of the recipe (a new one makes a new folder), and who follows it."""

    recipe: int
    make: Callable[[Data, Path, Say], Draft]


def _toy(data: Data, cache: Path, say: Say) -> Draft:
    # The grammar is large: naming a corpus, as `plan` and `table` do, must not load it.
    from ablatable.data.corpora.toy.corpus import build

    return build()


def _synthetic(data: Data, cache: Path, say: Say) -> Draft:
    return synthetic.build(data.corpus.removeprefix("synthetic-"))


def _packaged(recipe: int, harvest: Callable[[Path, Say], Harvest]) -> Maker:
    return Maker(recipe, lambda data, cache, say: draft(harvest(cache, say), recipe))


def _hub(data: Data, cache: Path, say: Say) -> Draft:
    entry = CORPORA[data.corpus]
    return hub.build(data.corpus, (entry.source, entry.target), cache, say)


KINDS: dict[str, Maker] = {
    "toy-en-de": Maker(TOY_RECIPE, _toy),
    **{f"synthetic-{task}": Maker(synthetic.RECIPE, _synthetic) for task in ("copy", "reverse", "sort")},
    "lohelp-en-de": _packaged(lohelp.RECIPE, lambda cache, say: lohelp.harvest("en", "de", cache, say)),
    "lohelp-en-fr": _packaged(lohelp.RECIPE, lambda cache, say: lohelp.harvest("en", "fr", cache, say)),
    "ding-en-de": _packaged(ding.RECIPE, ding.harvest),
    "manpages-en-de": _packaged(manpages.RECIPE, manpages.harvest),
    "debian-descriptions-en-de": _packaged(
        descriptions.RECIPE, lambda cache, say: descriptions.harvest("en", "de", cache, say)
    ),
    "debian-en-de": _packaged(debian_union.RECIPE, debian_union.harvest),
    **{name: Maker(hub.RECIPE, _hub) for name in hub.TEXTS},
    "files": Maker(files.RECIPE, lambda data, cache, say: files.build(data)),
}
"""The maker of each corpus of the catalogue."""


def _folder(data: Data, cache: Path, recipe: int) -> Path:
    key = f"-{files.key(data)}" if data.corpus == "files" else ""
    return cache / "corpora" / f"{data.corpus}{key}-r{recipe}"


def _languages(data: Data, entry: CorpusEntry) -> tuple[str, str]:
    return files.languages(data) if data.corpus == "files" else (entry.source, entry.target)


def fingerprint_warning(corpus: Corpus) -> str | None:
    """Return one sentence where the text differs from the one this version was tested with, else None."""
    pinned = CORPORA[corpus.name].fingerprint
    if pinned is None or pinned == corpus.fingerprint:
        return None
    packages = ", ".join(f"{name} {version}" for name, version in corpus.card.packages.items())
    return (
        f"corpus {corpus.name}: the text differs from the one this version was tested with (fingerprint "
        f"{corpus.fingerprint}, tested {pinned}{'; from ' + packages if packages else ''}); "
        "its results do not compare with published ones"
    )


def get(data: Data, cache: Path, say: Say = to_stderr) -> Corpus:
    """Return the corpus that ``data`` names, fetching or making it if the cache does not hold it.

    Safe to kill and to run twice at once. ``say`` takes lines of progress and warnings.

    Raises:
        InputError: unknown corpus, no apt, `datasets` or network for one that needs it, bad files, or a damaged
            cache.
        RunFailed: the disk is full.
    """
    check_corpus(data.corpus, "data.corpus")
    entry = CORPORA[data.corpus]
    maker = KINDS[data.corpus]
    final = _folder(data, cache, maker.recipe)
    with disk_errors(cache, ELSEWHERE):
        corpus = open_corpus(final)
        if corpus is None:
            with locked(cache / "corpora" / f".{final.name}.lock", say):
                corpus = open_corpus(final) or _make(data, entry, maker, cache, final, say)
    if data.corpus == "files":
        files.check_overlap(
            data, corpus.card.overlap, {split: facts.pairs for split, facts in corpus.card.splits.items()}
        )
    warning = fingerprint_warning(corpus)
    if warning:
        say(f"warning: {warning}")
    return corpus


def _make(data: Data, entry: CorpusEntry, maker: Maker, cache: Path, final: Path, say: Say) -> Corpus:
    say(f"corpus {data.corpus}: making {final}")

    def fill(folder: Path) -> None:
        write(maker.make(data, cache, say), folder, data.corpus, _languages(data, entry), entry.fingerprint)

    build_folder(final, fill)
    corpus = open_corpus(final)
    if corpus is None:
        raise InputError(f"{final}: the corpus vanished right after it was made; is something else cleaning the cache?")
    counts = ", ".join(f"{split} {facts.pairs:,}" for split, facts in corpus.card.splits.items())
    say(f"corpus {data.corpus}: {counts} pairs, fingerprint {corpus.fingerprint}")
    for note in corpus.card.notes:
        say(f"corpus {data.corpus}: {note}")
    return corpus


def local_fingerprint(data: Data, cache: Path) -> str | None:
    """Return the fingerprint of a corpus without fetching anything, or None where it is not in the cache.

    The user's own files are read where no card is there yet.

    Raises:
        InputError: unknown corpus, bad files, or an unreadable card.
    """
    check_corpus(data.corpus, "data.corpus")
    card = read_card(_folder(data, cache, KINDS[data.corpus].recipe))
    if card is not None:
        return card.fingerprint
    return files.fingerprint_of(data) if data.corpus == "files" else None
