"""The apt route: real packages of invented pages, and an apt-get that serves them from a folder."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from ablatable.config.data import Data
from ablatable.data.corpora import debian, get, local_fingerprint, lohelp
from ablatable.errors import InputError, RunFailed

needs_dpkg = pytest.mark.skipif(shutil.which("dpkg-deb") is None, reason="dpkg-deb is not on this machine")

_APT = """#!/bin/sh
# An apt-get for tests: serves $REPOSITORY; without an index until `update` where $REPOSITORY/no-index exists.
echo "$*" >> "$REPOSITORY/log"
private=no
for word in "$@"; do case "$word" in Dir::State=*) private=yes;; esac; done
case "$*" in *update*) exit 0;; esac
if [ -e "$REPOSITORY/no-index" ] && [ $private = no ]; then
    echo "E: Unable to locate package" >&2; exit 100
fi
if [ -e "$REPOSITORY/no-space" ]; then echo "E: write (28: No space left on device)" >&2; exit 100; fi
for word in "$@"; do
    file=$(ls "$REPOSITORY" | grep "^${word}_.*deb$") || continue
    case "$*" in
        *--print-uris*)
            sum=$(sha256sum "$REPOSITORY/$file" | cut -d' ' -f1)
            echo "'file:$REPOSITORY/$file' $file $(wc -c < "$REPOSITORY/$file") SHA256:$sum";;
        *) if [ -e "$REPOSITORY/cut" ]; then head -c 100 "$REPOSITORY/$file" > "$file"
           else cp "$REPOSITORY/$file" "$file"; fi;;
    esac
done
"""


def _quiet(message: str) -> None:
    del message


def _word(language: str, seed: str) -> str:
    digest = hashlib.sha256(f"{language} {seed}".encode()).hexdigest()
    return "".join(chr(ord("a") + int(digit, 16)) for digit in digest[:7])


def _page(language: str, page: int) -> str:
    lines = [f'<h1 id="h{page}">{" ".join(_word(language, f"h{page} {n}") for n in range(5))}</h1>']
    for paragraph in range(10):
        words = " ".join(_word(language, f"{page} {paragraph} {n}") for n in range(9))
        lines.append(f'<p id="p{paragraph}" class="paragraph">{words}.</p>')
    lines.append(f'<p id="code" class="codeintable">{language} code that nobody reads</p>')
    return "\n".join(lines)


def _package(folder: Path, name: str, language: str, version: str = "1:7.0-1") -> None:
    root = folder / f"build-{name}"
    pages = root / "usr/share/libreoffice/help" / language / "text/area"
    pages.mkdir(parents=True)
    for page in range(8):
        (pages / f"page{page}.html").write_text(_page(language, page), encoding="utf-8")
    (pages / f"only-{language}.html").write_text(_page(language, 99), encoding="utf-8")
    (root / "DEBIAN").mkdir()
    (root / "DEBIAN/control").write_text(
        f"Package: {name}\nVersion: {version}\nArchitecture: all\n"
        "Maintainer: nobody <nobody@example.org>\nDescription: x\n",
        encoding="utf-8",
    )
    root.chmod(0o755)
    (root / "DEBIAN").chmod(0o755)
    file = folder / f"{name}_{version.replace(':', '%3a')}_all.deb"
    subprocess.run(["dpkg-deb", "--root-owner-group", "-b", str(root), str(file)], check=True, capture_output=True)
    shutil.rmtree(root)


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder, tools = tmp_path / "repository", tmp_path / "tools"
    folder.mkdir()
    tools.mkdir()
    _package(folder, "libreoffice-help-en-us", "en-US")
    _package(folder, "libreoffice-help-de", "de")
    script = tools / "apt-get"
    script.write_text(_APT, encoding="utf-8")
    script.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tools}:{os.environ['PATH']}")
    monkeypatch.setenv("REPOSITORY", str(folder))
    monkeypatch.setattr(lohelp, "HELD_OUT", 5)
    return folder


@needs_dpkg
def test_the_whole_recipe_on_invented_pages(repository: Path, tmp_path: Path) -> None:
    corpus = get(Data(corpus="lohelp-en-de"), tmp_path / "cache", _quiet)
    assert dict(corpus.card.steps)["paragraph pairs"] == 88  # 8 pages of a heading and 10 paragraphs
    assert {split: facts.pairs for split, facts in corpus.card.splits.items()} == {
        "train": 78,
        "valid": 5,
        "test": 5,
    }
    assert corpus.card.packages == {"libreoffice-help-en-us": "1:7.0-1", "libreoffice-help-de": "1:7.0-1"}
    for source, target in corpus.pairs("train"):
        assert len(source.split()) == len(target.split()) in (5, 9)
        assert "code" not in source
    assert sorted(path.name for path in corpus.folder.iterdir()) == sorted(
        [
            "card.json",
            *(f"{split}.{language}" for split in ("train", "valid", "test") for language in ("en", "de")),
        ]
    )


@needs_dpkg
def test_a_text_from_another_release_warns_with_its_versions(repository: Path, tmp_path: Path) -> None:
    said: list[str] = []
    corpus = get(Data(corpus="lohelp-en-de"), tmp_path / "cache", said.append)
    if corpus.card.expected_fingerprint is not None:
        assert [line for line in said if line.startswith("warning: ") and "libreoffice-help-de 1:7.0-1" in line]


@needs_dpkg
def test_a_missing_index_is_fetched_into_the_cache(repository: Path, tmp_path: Path) -> None:
    (repository / "no-index").touch()
    get(Data(corpus="lohelp-en-de"), tmp_path / "cache", _quiet)
    updates = [line for line in (repository / "log").read_text().splitlines() if line.endswith("update")]
    assert len(updates) == 1
    assert f"Dir::State={tmp_path / 'cache'}" in updates[0]


@needs_dpkg
def test_a_package_cut_short_is_not_believed(repository: Path, tmp_path: Path) -> None:
    (repository / "cut").touch()
    cache = tmp_path / "cache"
    with pytest.raises(InputError, match=r"did not arrive whole.*toy-en-de"):
        get(Data(corpus="lohelp-en-de"), cache, _quiet)
    assert local_fingerprint(Data(corpus="lohelp-en-de"), cache) is None
    (repository / "cut").unlink()
    assert get(Data(corpus="lohelp-en-de"), cache, _quiet).card.splits["train"].pairs == 78


@needs_dpkg
def test_an_unknown_package_names_the_other_corpora(repository: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"could not fetch .*toy-en-de.*files"):
        get(Data(corpus="lohelp-en-fr"), tmp_path / "cache", _quiet)


@needs_dpkg
def test_a_disk_that_fills_up_under_apt_is_one_sentence(repository: Path, tmp_path: Path) -> None:
    (repository / "no-space").touch()
    with pytest.raises(RunFailed, match=r"the disk is full: .*ABLATABLE_CACHE"):
        get(Data(corpus="lohelp-en-de"), tmp_path / "cache", _quiet)


@needs_dpkg
def test_a_release_of_another_form_is_refused(
    repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lohelp, "HELD_OUT", 1000)
    with pytest.raises(InputError, match="only 88 usable sentence pairs"):
        get(Data(corpus="lohelp-en-de"), tmp_path / "cache", _quiet)


def test_no_apt_here_names_the_other_corpora(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(InputError, match=r"no apt-get and no dpkg-deb.*toy-en-de.*files"):
        get(Data(corpus="lohelp-en-de"), tmp_path / "cache", _quiet)


@needs_dpkg
def test_a_package_that_is_not_one_cannot_be_read(tmp_path: Path) -> None:
    path = tmp_path / "x.deb"
    path.write_text("no package", encoding="utf-8")
    with pytest.raises(InputError, match=r"x\.deb: dpkg-deb cannot read it"):
        debian.read_files(debian.Package("x", "1", path), "usr", ".html")


@pytest.mark.slow
@pytest.mark.parametrize("name", ["lohelp-en-de", "lohelp-en-fr"])
def test_the_real_text_from_the_real_packages(tmp_path: Path, name: str) -> None:
    """Fetches about 5 MB with apt; skipped where the package cannot be had."""
    try:
        corpus = get(Data(corpus=name), tmp_path / "cache", _quiet)
    except InputError as error:
        pytest.skip(f"the package cannot be had here: {error}")
    train = corpus.card.splits["train"]
    assert 25_000 <= train.pairs <= 40_000
    assert corpus.card.splits["valid"].pairs == corpus.card.splits["test"].pairs == 1000
    assert 11 <= train.source_words / train.pairs <= 15
    assert corpus.card.overlap["test"].sources == corpus.card.overlap["valid"].sources == 0
    assert all(facts.duplicates == 0 for facts in corpus.card.splits.values())
    tested = {"lohelp-en-de": "e9e6c514a28a6620", "lohelp-en-fr": "0719b4463b8febc2"}
    if set(corpus.card.packages.values()) == {"4:7.4.7-1+deb12u14"}:
        assert corpus.fingerprint == tested[name]
