"""LibreOffice's help as parallel text (MPL-2.0), from Debian packages, aligned by page and paragraph id."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path

from ablatable.data.corpora import debian
from ablatable.data.corpora.cleaning import drop_mac_keys, normalise, rejected, split_together
from ablatable.data.corpora.corpus import Draft, Pair
from ablatable.data.corpora.markup import paragraphs
from ablatable.data.corpora.splitting import hold_out
from ablatable.data.corpora.storage import Say
from ablatable.errors import InputError

RECIPE = 1
HELD_OUT = 1000
_PACKAGES = {"en": "libreoffice-help-en-us", "de": "libreoffice-help-de", "fr": "libreoffice-help-fr"}
_ROOT = "usr/share/libreoffice/help"
_FOLDERS = {"en": "en-US", "de": "de", "fr": "fr"}


def paired(source: Mapping[str, bytes], target: Mapping[str, bytes]) -> Iterator[Pair]:
    """Yield the paragraphs that both sides hold under the same page and id, in the order of the pages."""
    for page in sorted(source.keys() & target.keys()):
        left, right = (paragraphs(side[page].decode("utf-8")) for side in (source, target))
        yield from ((text, right[name]) for name, text in left.items() if name in right)


def clean(raw: Iterator[Pair]) -> tuple[list[Pair], list[tuple[str, int]]]:
    """Return the distinct clean sentence pairs in order of appearance, and the counts at every step."""
    counts: Counter[str] = Counter()
    dropped: Counter[str] = Counter()
    kept: dict[Pair, None] = {}
    for source, target in raw:
        counts["paragraph pairs"] += 1
        for pair in split_together(drop_mac_keys(normalise(source)), drop_mac_keys(normalise(target))):
            counts["sentence pairs"] += 1
            reason = rejected(*pair)
            if reason:
                dropped[reason] += 1
                continue
            counts["clean pairs"] += 1
            kept.setdefault(pair)
    steps = [(name, counts[name]) for name in ("paragraph pairs", "sentence pairs")]
    steps += [(f"dropped: {reason}", count) for reason, count in dropped.most_common()]
    return list(kept), [*steps, ("clean pairs", counts["clean pairs"]), ("distinct pairs", len(kept))]


def build(source: str, target: str, cache: Path, say: Say) -> Draft:
    """Fetch, parse, clean and split LibreOffice's help in two languages out of en, de, fr.

    The packages are kept in ``cache``.

    Raises:
        InputError: no apt, no network, or too few usable pairs.
        RunFailed: the disk is full.
    """
    packages = debian.fetch([_PACKAGES[source], _PACKAGES[target]], cache / "debian", say)
    say("reading and cleaning the pages")
    pages = [
        debian.read_files(package, f"{_ROOT}/{_FOLDERS[language]}/text", ".html")
        for package, language in zip(packages, (source, target), strict=True)
    ]
    pairs, steps = clean(paired(*pages))
    if len(pairs) < 4 * HELD_OUT:
        raise InputError(
            f"{' and '.join(str(package.path) for package in packages)}: only {len(pairs)} usable sentence "
            "pairs, this release of LibreOffice's help has another form; use data.corpus=toy-en-de or "
            "data.corpus=files instead"
        )
    splits = hold_out(pairs, valid=HELD_OUT, test=HELD_OUT)
    steps += [(f"dropped from training: {reason}", count) for reason, count in splits.dropped.items()]
    return Draft(
        origin="LibreOffice help, Debian packages " + ", ".join(package.name for package in packages),
        licence="MPL-2.0 (some files include Apache-2.0 material)",
        recipe=RECIPE,
        splits=splits.named(),
        packages={package.name: package.version for package in packages},
        steps=steps,
    )
