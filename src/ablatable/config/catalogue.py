"""Every corpus by name: what it is, and the fingerprint of the text we tested. Fetching lives in ``data.corpora``."""

from __future__ import annotations

from dataclasses import dataclass

from ablatable.errors import InputError, nearest


@dataclass(frozen=True)
class CorpusEntry:
    """``fingerprint`` pins the extracted text of the tested release; None where it depends on the user's files."""

    source: str
    target: str
    summary: str
    fingerprint: str | None = None
    available: bool = True


CORPORA: dict[str, CorpusEntry] = {
    "lohelp-en-de": CorpusEntry(
        "en", "de", "LibreOffice help, about 30k aligned sentences (MPL-2.0), through apt", "e9e6c514a28a6620"
    ),
    "lohelp-en-fr": CorpusEntry(
        "en", "fr", "LibreOffice help, about 30k aligned sentences (MPL-2.0), through apt", "0719b4463b8febc2"
    ),
    "toy-en-de": CorpusEntry(
        "en", "de", "a synchronous English-German grammar of our own; works anywhere", "d218c558bb6794ea"
    ),
    "synthetic-copy": CorpusEntry("xx", "yy", "random symbols, copied", "2291839859fde6eb"),
    "synthetic-reverse": CorpusEntry("xx", "yy", "random symbols, reversed", "0c5721459c54ab8f"),
    "synthetic-sort": CorpusEntry("xx", "yy", "random symbols, sorted", "31a2eee79da779b8"),
    "files": CorpusEntry("", "", "any two aligned text files, named by data.files_*"),
    "wmt14-en-de": CorpusEntry("en", "de", "WMT 2014, 4.5M pairs, the paper's; needs a download hub", available=False),
}


def check_corpus(name: str, where: str) -> None:
    """Refuse a corpus nobody knows.

    Raises:
        InputError: with the nearest name.
    """
    if name not in CORPORA:
        raise InputError(f"{where}: unknown corpus '{name}'{nearest(name, CORPORA)} (known: {', '.join(CORPORA)})")
