"""LibreOffice's help as parallel text (MPL-2.0), from Debian packages, aligned by page and paragraph id."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from ablatable.data.corpora import debian
from ablatable.data.corpora.cleaning import clean, drop_mac_keys, normalise
from ablatable.data.corpora.corpus import Pair
from ablatable.data.corpora.harvest import Harvest
from ablatable.data.corpora.markup import paragraphs
from ablatable.data.corpora.storage import Say

RECIPE = 1
_PACKAGES = {"en": "libreoffice-help-en-us", "de": "libreoffice-help-de", "fr": "libreoffice-help-fr"}
_ROOT = "usr/share/libreoffice/help"
_FOLDERS = {"en": "en-US", "de": "de", "fr": "fr"}


def paired(source: Mapping[str, bytes], target: Mapping[str, bytes]) -> Iterator[Pair]:
    """Yield the paragraphs that both sides hold under the same page and id, in the order of the pages."""
    for page in sorted(source.keys() & target.keys()):
        left, right = (paragraphs(side[page].decode("utf-8")) for side in (source, target))
        yield from ((text, right[name]) for name, text in left.items() if name in right)


def harvest(source: str, target: str, cache: Path, say: Say) -> Harvest:
    """Fetch, parse and clean LibreOffice's help in two languages out of en, de, fr.

    The packages are kept in ``cache``.

    Raises:
        InputError: no apt, or no network.
        RunFailed: the disk is full.
    """
    packages = debian.fetch([_PACKAGES[source], _PACKAGES[target]], cache / "debian", say)
    say("reading and cleaning the pages of LibreOffice's help")
    pages = [
        debian.read_files(package, f"{_ROOT}/{_FOLDERS[language]}/text", ".html")
        for package, language in zip(packages, (source, target), strict=True)
    ]
    pairs, steps = clean(paired(*pages), "paragraph pairs", lambda text: drop_mac_keys(normalise(text)))
    return Harvest(
        pairs,
        steps,
        debian.versions(packages),
        "LibreOffice help, " + debian.named(packages),
        "MPL-2.0 (some files include Apache-2.0 material)",
    )
