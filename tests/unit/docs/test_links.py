"""Links between the pages of the repository lead somewhere."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parents[3]
PAGES = ("README.md", "CONTRIBUTING.md", *sorted(f"docs/{page.name}" for page in (REPOSITORY / "docs").glob("*.md")))


def _anchors(page: Path) -> set[str]:
    """Headings as GitHub names them: lower case, no punctuation, blanks as hyphens."""
    headings = re.findall(r"^#+ (.+)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", PAGES)
def test_links_lead_to_files_and_headings(page: str, repository: Path) -> None:
    here = repository / page
    text = re.sub(r"```.*?```", "", here.read_text(encoding="utf-8"), flags=re.DOTALL)
    for target, anchor in re.findall(r"\]\((?!https?:)([^)#\s]*)#?([^)\s]*)\)", text):
        leads_to = (here.parent / target).resolve() if target else here
        assert leads_to.exists(), f"{page}: {target}"
        assert not anchor or anchor in _anchors(leads_to), f"{page}: {target}#{anchor}"


def test_files_that_adding_speaks_of_exist(repository: Path) -> None:
    """Paths in back quotes are below src/ablatable, or the repository."""
    text = (repository / "docs" / "adding.md").read_text(encoding="utf-8")
    named = set(re.findall(r"`((?:[a-z_0-9-]+/)+(?:[a-z_0-9]+\.[a-z]+)?)`", text))
    assert {"nn/ffn.py", "tests/oracle/"} <= named
    roots = (repository, repository / "src" / "ablatable")
    assert [name for name in sorted(named) if not any((root / name).exists() for root in roots)] == []
