"""Apt's translated package descriptions, fetched into a folder of our own with the system's sources."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ablatable.data.corpora.debian import OTHERS, AptFailed, require_tools, run_apt
from ablatable.data.corpora.storage import Say, locked
from ablatable.errors import InputError

_TARGET = "$(FILENAME)\t$(LANGUAGE)\t$(SITE)\t$(RELEASE)\t$(COMPONENT)"


@dataclass(frozen=True)
class Index:
    """The indexes of one part of a release: its name, the release's version, and language -> text."""

    name: str
    version: str
    texts: dict[str, str]


def _configuration(folder: Path, languages: Sequence[str]) -> Path:
    """Write what apt shall do otherwise than this system says: these languages, uncompressed, no package lists.

    The system's own configuration is read too, since a proxy may stand there; ``#clear`` empties the list of
    languages that it may have set (container images set it to "none").
    """
    path = folder / "apt.conf"
    wanted = " ".join(f'"{language}";' for language in languages)
    path.write_text(
        f"#clear Acquire::Languages;\nAcquire::Languages {{ {wanted} }};\n"
        'Acquire::GzipIndexes "false";\nAcquire::IndexTargets::deb::Packages::DefaultEnabled "false";\n'
        f'Dir::State "{folder / "state"}";\nDir::Cache "{folder / "cache"}";\n',
        encoding="utf-8",
    )
    return path


def _version(translation: Path, component: str) -> str:
    """Return version and date of the release that an index belongs to, from the Release file beside it."""
    stem, _, _ = translation.name.rpartition(f"_{component}_i18n_")
    for name in ("InRelease", "Release"):
        path = translation.with_name(f"{stem}_{name}")
        if path.is_file():
            fields = dict(re.findall(r"^(Version|Date): (.+)$", path.read_text(encoding="utf-8"), re.MULTILINE))
            return ", ".join(fields[key] for key in ("Version", "Date") if key in fields)
    return "unknown"


def _read(listing: str, languages: Sequence[str]) -> list[Index]:
    files: dict[tuple[str, str, str], dict[str, Path]] = {}
    for line in listing.splitlines():
        name, language, *place = line.split("\t")
        if len(place) == 3 and Path(name).is_file():
            files.setdefault((place[0], place[1], place[2]), {})[language] = Path(name)
    return [
        Index(
            f"{release}/{component}",
            _version(paths[languages[0]], component),
            {language: paths[language].read_text(encoding="utf-8") for language in languages},
        )
        for (_, release, component), paths in files.items()
        if all(language in paths for language in languages)
    ]


def fetch_descriptions(languages: Sequence[str], folder: Path, say: Say) -> list[Index]:
    """Fetch the descriptions of all packages in ``languages``, for the parts of the release that have them all.

    Raises:
        InputError: no apt here, no network, or no such translations.
        RunFailed: the disk is full.
    """
    require_tools()
    for path in (folder / "state" / "lists" / "partial", folder / "cache" / "archives" / "partial"):
        path.mkdir(parents=True, exist_ok=True)
    options = ["-c", str(_configuration(folder, languages))]
    with locked(folder / ".lock", say) as lock:
        say(f"fetching the descriptions of all packages ({', '.join(languages)}; about 8 MB) with apt-get")
        try:
            run_apt(["update"], folder, options, lock)
            listing = run_apt(["indextargets", "--format", _TARGET, "Created-By: Translations"], folder, options, lock)
        except AptFailed as error:
            raise InputError(f"apt could not fetch the descriptions of packages ({error}); {OTHERS}") from error
        found = _read(listing, languages)
    if not found:
        raise InputError(
            f"apt could not fetch the descriptions of packages in {' and '.join(languages)} "
            f"(no network, or this system's sources do not offer them); {OTHERS}"
        )
    return found
