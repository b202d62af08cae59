"""The apt route: real packages of invented pages, and an apt-get that serves them from a folder."""

from __future__ import annotations

import gzip
import hashlib
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from ablatable.config.catalogue import CORPORA
from ablatable.config.data import Data
from ablatable.data.corpora import debian, get, harvest, local_fingerprint
from ablatable.errors import InputError, RunFailed

needs_dpkg = pytest.mark.skipif(shutil.which("dpkg-deb") is None, reason="dpkg-deb is not on this machine")

_APT = """#!/bin/sh
# An apt-get for tests: serves $REPOSITORY; without an index until `update` where $REPOSITORY/no-index exists.
echo "$*" >> "$REPOSITORY/log"
private=no
for word in "$@"; do case "$word" in Dir::State=*) private=yes;; esac; done
case "$*" in *update*) cp "$REPOSITORY"/lists/* state/lists 2>/dev/null; exit 0;; esac
case "$*" in *indextargets*)
    for file in "$PWD"/state/lists/*Translation-*; do
        printf '%s\\t%s\\thttp://here\\tour\\tmain\\n' "$file" "${file##*-}"
    done
    exit 0;; esac
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


def _package(folder: Path, name: str, files: dict[str, bytes], version: str = "1:7.0-1") -> None:
    root = folder / f"build-{name}"
    for path, content in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_bytes(content)
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


def _help(language: str) -> dict[str, bytes]:
    pages = {f"page{page}": _page(language, page) for page in range(8)} | {f"only-{language}": _page(language, 99)}
    return {
        f"usr/share/libreoffice/help/{language}/text/area/{name}.html": page.encode() for name, page in pages.items()
    }


def _sentence(language: str, seed: str) -> str:
    return " ".join(_word(language, f"{seed} {n}") for n in range(7)).capitalize() + "."


def _manual(folder: str, language: str) -> dict[str, bytes]:
    """Two pages of ten paragraphs each."""
    pages: dict[str, bytes] = {}
    for page in range(2):
        blocks = "".join(f".PP\n{_sentence(language, f'man {page} {n}')}\n" for n in range(10))
        text = f".TH box{page} 7\n.SH {_word(language, 'title')}\n{blocks}"
        pages[f"{folder}/man7/box{page}.7.gz"] = gzip.compress(text.encode())
    return pages


def _index(language: str) -> str:
    """Twenty descriptions: a synopsis that is too short, and one paragraph."""
    return "\n".join(
        f"Package: box{n}\nDescription-md5: {n:032x}\n"
        f"Description-{language}: {_word(language, 'box')}\n {_sentence(language, f'index {n}')}\n"
        for n in range(20)
    )


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder, tools = tmp_path / "repository", tmp_path / "tools"
    folder.mkdir()
    tools.mkdir()
    _package(folder, "libreoffice-help-en-us", _help("en-US"))
    _package(folder, "libreoffice-help-de", _help("de"))
    script = tools / "apt-get"
    script.write_text(_APT, encoding="utf-8")
    script.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tools}:{os.environ['PATH']}")
    monkeypatch.setenv("REPOSITORY", str(folder))
    monkeypatch.setattr(harvest, "HELD_OUT", 5)
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
    monkeypatch.setattr(harvest, "HELD_OUT", 1000)
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


@pytest.fixture
def everything(repository: Path) -> Path:
    """The repository with all that `debian-en-de` is made of."""
    entries = "".join(f"{_word('de', str(n))} {{m}} | {_sentence('de', str(n))} :: "
                      f"{_word('en', str(n))} | {_sentence('en', str(n))}\n" for n in range(30))  # fmt: skip
    _package(repository, "trans-de-en", {"usr/share/trans/de-en": f"# Version\n{entries}".encode()}, "2.0")
    _package(repository, "manpages", _manual("usr/share/man", "en"), "3.0")
    _package(repository, "manpages-dev", {"usr/share/doc/x": b""}, "3.0")
    _package(repository, "manpages-de", _manual("usr/share/man/de", "de"), "4.0")
    _package(repository, "manpages-de-dev", {"usr/share/doc/x": b""}, "4.0")
    lists = repository / "lists"
    lists.mkdir()
    for language in ("en", "de"):
        (lists / f"here_our_main_i18n_Translation-{language}").write_text(_index(language), encoding="utf-8")
    (lists / "here_our_InRelease").write_text("Origin: here\nVersion: 12.0\nDate: today\n", encoding="utf-8")
    return repository


@needs_dpkg
@pytest.mark.parametrize(
    ("name", "pairs", "packages"),
    [
        ("ding-en-de", 30, {"trans-de-en": "2.0"}),
        (
            "manpages-en-de",
            20,
            {"manpages": "3.0", "manpages-dev": "3.0", "manpages-de": "4.0", "manpages-de-dev": "4.0"},
        ),
        ("debian-descriptions-en-de", 20, {"descriptions of our/main": "12.0, today"}),
    ],
)
def test_each_part_of_the_union_from_invented_text(
    everything: Path, tmp_path: Path, name: str, pairs: int, packages: dict[str, str]
) -> None:
    corpus = get(Data(corpus=name), tmp_path / "cache", _quiet)
    assert corpus.card.packages == packages
    assert {split: facts.pairs for split, facts in corpus.card.splits.items()} == {
        "train": pairs - 10,
        "valid": 5,
        "test": 5,
    }


@needs_dpkg
def test_the_union_holds_every_part_once(everything: Path, tmp_path: Path) -> None:
    corpus = get(Data(corpus="debian-en-de"), tmp_path / "cache", _quiet)
    steps = dict(corpus.card.steps)
    parts = ("LibreOffice help", "dictionary examples", "manual pages", "package descriptions")
    assert [steps[part] for part in parts] == [88, 30, 20, 20]
    assert steps["distinct pairs"] == 158
    assert sum(facts.pairs for facts in corpus.card.splits.values()) == 158
    assert len(corpus.card.packages) == 8
    assert corpus.card.overlap["test"].sources == corpus.card.overlap["valid"].sources == 0


@needs_dpkg
def test_descriptions_ask_apt_for_both_languages_whatever_the_system_says(everything: Path, tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    get(Data(corpus="debian-descriptions-en-de"), cache, _quiet)
    folder = cache / "debian" / "descriptions-en-de"
    text = (folder / "apt.conf").read_text(encoding="utf-8")
    assert text.startswith('#clear Acquire::Languages;\nAcquire::Languages { "en"; "de"; };\n')
    assert f'Dir::State "{folder / "state"}";' in text


@needs_dpkg
def test_a_system_without_translations_names_the_other_corpora(everything: Path, tmp_path: Path) -> None:
    (everything / "lists" / "here_our_main_i18n_Translation-de").unlink()
    with pytest.raises(InputError, match=r"descriptions of packages in en and de .*toy-en-de.*files"):
        get(Data(corpus="debian-descriptions-en-de"), tmp_path / "cache", _quiet)


@needs_dpkg
def test_a_dictionary_of_another_form_is_refused(repository: Path, tmp_path: Path) -> None:
    _package(repository, "trans-de-en", {"usr/share/trans/moved": b""})
    with pytest.raises(InputError, match=r"trans-de-en.*no dictionary in it.*toy-en-de"):
        get(Data(corpus="ding-en-de"), tmp_path / "cache", _quiet)


_TESTED = {
    "lohelp-en-de": {"libreoffice-help-de": "4:7.4.7-1+deb12u14", "libreoffice-help-en-us": "4:7.4.7-1+deb12u14"},
    "lohelp-en-fr": {"libreoffice-help-fr": "4:7.4.7-1+deb12u14", "libreoffice-help-en-us": "4:7.4.7-1+deb12u14"},
    "ding-en-de": {"trans-de-en": "1.9-6"},
    "manpages-en-de": {
        "manpages": "6.03-2",
        "manpages-dev": "6.03-2",
        "manpages-de": "4.18.1-1",
        "manpages-de-dev": "4.18.1-1",
    },
    "debian-descriptions-en-de": {"descriptions of bookworm/main": "12.15, Sat, 11 Jul 2026 10:16:37 UTC"},
}
_TESTED["debian-en-de"] = {name: version for part in _TESTED.values() for name, version in part.items()}
del _TESTED["debian-en-de"]["libreoffice-help-fr"]
"""Corpus -> the packages that the catalogue's fingerprint was taken from."""


@pytest.fixture(scope="module")
def real_cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One cache for all real packages: each is fetched once."""
    return tmp_path_factory.mktemp("real")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "pairs", "words"),
    [
        ("lohelp-en-de", (25_000, 40_000), (11, 15)),
        ("lohelp-en-fr", (25_000, 40_000), (11, 15)),
        ("ding-en-de", (13_000, 20_000), (6, 10)),
        ("manpages-en-de", (9_000, 20_000), (14, 21)),
        ("debian-descriptions-en-de", (20_000, 50_000), (11, 18)),
        ("debian-en-de", (70_000, 130_000), (11, 15)),
    ],
)
def test_the_real_text_from_the_real_packages(
    real_cache: Path, name: str, pairs: tuple[int, int], words: tuple[int, int]
) -> None:
    """Fetches about 30 MB with apt, all together; skipped where the packages cannot be had."""
    try:
        corpus = get(Data(corpus=name), real_cache, _quiet)
    except InputError as error:
        if "could not fetch" in str(error) or "this machine has no" in str(error):
            pytest.skip(f"the packages cannot be had here: {error}")
        raise
    train = corpus.card.splits["train"]
    assert pairs[0] <= train.pairs <= pairs[1]
    assert corpus.card.splits["valid"].pairs == corpus.card.splits["test"].pairs == 1000
    assert words[0] <= train.source_words / train.pairs <= words[1]
    assert corpus.card.overlap["test"].sources == corpus.card.overlap["valid"].sources == 0
    assert all(facts.duplicates == 0 for facts in corpus.card.splits.values())
    if corpus.card.packages == _TESTED[name]:
        assert corpus.fingerprint == CORPORA[name].fingerprint
