"""Get a corpus by name: from the cache where it is there, else made once, whole or not at all."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from ablatable.config.catalogue import CORPORA, CorpusEntry, check_corpus
from ablatable.config.data import Data
from ablatable.data.corpora import files, lohelp, synthetic
from ablatable.data.corpora.corpus import Corpus, Draft, open_corpus, read_card, write
from ablatable.data.corpora.storage import ELSEWHERE, Say, build_folder, locked, to_stderr
from ablatable.data.corpora.toy import RECIPE as TOY_RECIPE
from ablatable.errors import InputError
from ablatable.record.files import disk_errors

Builder = Callable[[Path, Say], Draft]
"""(cache, progress) -> the corpus in memory."""


def _builder(data: Data, entry: CorpusEntry) -> tuple[int, Builder]:
    """Return the recipe's number and the builder of a named corpus (``files`` has its own key)."""
    name = data.corpus
    if name.startswith("lohelp-"):
        return lohelp.RECIPE, lambda cache, say: lohelp.build(entry.source, entry.target, cache, say)
    if name.startswith("synthetic-"):
        return synthetic.RECIPE, lambda cache, say: synthetic.build(name.removeprefix("synthetic-"))
    if name == "toy-en-de":
        return TOY_RECIPE, lambda cache, say: _toy()
    if name == "files":
        return files.RECIPE, lambda cache, say: files.build(data)
    raise InputError(
        f"data.corpus={name} needs the hub loader, which this version does not ship; download the text "
        "yourself and use data.corpus=files with data.files_source_train, data.files_target_train, ..."
    )


def _toy() -> Draft:
    # The grammar is large: naming a corpus, as `plan` and `table` do, must not load it.
    from ablatable.data.corpora.toy.corpus import build

    return build()


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
        InputError: unknown corpus, one without a loader, no apt or network for one that needs it, bad files,
            or a damaged cache.
        RunFailed: the disk is full.
    """
    check_corpus(data.corpus, "data.corpus")
    entry = CORPORA[data.corpus]
    recipe, builder = _builder(data, entry)
    final = _folder(data, cache, recipe)
    with disk_errors(cache, ELSEWHERE):
        corpus = open_corpus(final)
        if corpus is None:
            with locked(cache / "corpora" / f".{final.name}.lock", say):
                corpus = open_corpus(final) or _make(data, entry, builder, cache, final, say)
    if data.corpus == "files":
        files.check_overlap(
            data, corpus.card.overlap, {split: facts.pairs for split, facts in corpus.card.splits.items()}
        )
    warning = fingerprint_warning(corpus)
    if warning:
        say(f"warning: {warning}")
    return corpus


def _make(data: Data, entry: CorpusEntry, builder: Builder, cache: Path, final: Path, say: Say) -> Corpus:
    say(f"corpus {data.corpus}: making {final}")

    def fill(folder: Path) -> None:
        write(builder(cache, say), folder, data.corpus, _languages(data, entry), entry.fingerprint)

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
    if not CORPORA[data.corpus].available:
        return None
    recipe, _ = _builder(data, CORPORA[data.corpus])
    card = read_card(_folder(data, cache, recipe))
    if card is not None:
        return card.fingerprint
    return files.fingerprint_of(data) if data.corpus == "files" else None
