"""Every corpus by name: what it is, and the fingerprint of the text we tested. Fetching lives in ``data.corpora``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from ablatable.errors import InputError, nearest

Needs = Literal["nothing", "apt", "hub", "files"]

NEEDS: dict[Needs, str] = {
    "nothing": "made on the spot, anywhere",
    "apt": "through apt-get and dpkg-deb (Debian, Ubuntu), from the system's own package sources",
    "hub": "through the Hugging Face hub, with the extra `hub` (pip install 'ablatable[hub]')",
    "files": "your own text",
}
"""What a corpus is made from, and what that takes."""


@dataclass(frozen=True)
class CorpusEntry:
    """``fingerprint`` pins the extracted text of the tested release; None where none could be tested."""

    source: str
    target: str
    summary: str
    fingerprint: str | None = None
    needs: Needs = "nothing"


CORPORA: dict[str, CorpusEntry] = {
    "toy-en-de": CorpusEntry(
        "en", "de", "a synchronous English-German grammar of our own; works anywhere", "d218c558bb6794ea"
    ),
    "synthetic-copy": CorpusEntry("xx", "yy", "random symbols, copied", "2291839859fde6eb"),
    "synthetic-reverse": CorpusEntry("xx", "yy", "random symbols, reversed", "0c5721459c54ab8f"),
    "synthetic-sort": CorpusEntry("xx", "yy", "random symbols, sorted", "31a2eee79da779b8"),
    "lohelp-en-de": CorpusEntry(
        "en", "de", "LibreOffice help, about 30k aligned sentences (MPL-2.0)", "e9e6c514a28a6620", "apt"
    ),
    "lohelp-en-fr": CorpusEntry(
        "en", "fr", "LibreOffice help, about 30k aligned sentences (MPL-2.0)", "0719b4463b8febc2", "apt"
    ),
    "ding-en-de": CorpusEntry(
        "en", "de", "17k short example sentences of the dictionary Ding (GPL-2+)", "a8e525576839bee0", "apt"
    ),
    "manpages-en-de": CorpusEntry(
        "en", "de", "13k sentences of Linux manual pages (mixed licences)", "c079711748490ea8", "apt"
    ),
    "debian-descriptions-en-de": CorpusEntry(
        "en", "de", "36k sentences of package descriptions (mixed licences)", "61916e404abf9325", "apt"
    ),
    "debian-en-de": CorpusEntry(
        "en", "de", "the union of lohelp, ding, manpages and descriptions: 100k pairs", "6d4aac469770ebf7", "apt"
    ),
    "wmt14-en-de": CorpusEntry("en", "de", "WMT 2014, 4.5M pairs, the paper's; newstest2013 and 2014", None, "hub"),
    "wmt14-en-fr": CorpusEntry("en", "fr", "WMT 2014, 41M pairs, the paper's; newstest2013 and 2014", None, "hub"),
    "iwslt14-de-en": CorpusEntry("de", "en", "IWSLT 2014, 160k pairs of TED talks (CC BY-NC-ND 4.0)", None, "hub"),
    "multi30k-en-de": CorpusEntry("en", "de", "Multi30k, 29k image captions, test set of 2016", None, "hub"),
    "files": CorpusEntry("", "", "any two aligned text files, named by data.files_*", None, "files"),
}


def check_corpus(name: str, where: str) -> None:
    """Refuse a corpus nobody knows.

    Raises:
        InputError: with the nearest name.
    """
    if name not in CORPORA:
        raise InputError(f"{where}: unknown corpus '{name}'{nearest(name, CORPORA)} (known: {', '.join(CORPORA)})")
