"""Each format: hostile text stays text, structure stays whole, programs can read the CSV."""

from __future__ import annotations

import csv
import io
import json
import re
from html.parser import HTMLParser
from pathlib import Path

import pytest
from table_bench import Bench

from ablatable.errors import InputError, RunFailed
from ablatable.report import html, latex, markdown
from ablatable.report.check import check
from ablatable.report.model import Table
from ablatable.report.render import RENDERERS, files, formats

HOSTILE = r"50% of $x_1 & <script>alert('|')</script> \end{table} #1 ~a~ ^ {} [link](x) *bold* `code`"


class _Tags(HTMLParser):
    """Collects tags and text, and checks that what is opened is closed."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.seen: list[str] = []
        self.text = ""

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self.seen.append(tag)
        if tag not in ("meta", "br", "link"):
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data


@pytest.fixture
def hostile(bench: Bench) -> Table:
    """A table whose every free text is hostile."""
    bench.title = HOSTILE
    bench.row("base", {1: 20.0, 2: 21.0, 3: 22.0}, reported={"bleu": 25.8})
    bench.row("bad", failed=dict.fromkeys((1, 2, 3), HOSTILE), label=HOSTILE, note=HOSTILE, group="A")
    return bench.table()


def test_html_is_well_formed_self_contained_and_escaped(hostile: Table) -> None:
    page = RENDERERS["html"](hostile)
    tags = _Tags()
    tags.feed(page)
    assert tags.open == []
    assert not {"script", "link", "img", "iframe"} & set(tags.seen)
    assert not re.search(r"https?:|url\(|@import", page)
    assert HOSTILE in tags.text


def test_html_rows_have_the_same_width(hostile: Table) -> None:
    page = RENDERERS["html"](hostile)
    body = [row for row in re.findall(r"<tr>(.*?)</tr>", page, re.DOTALL) if "<td" in row]
    widths = [row.count("<td") + sum(int(n) - 1 for n in re.findall(r'colspan="(\d+)"', row)) for row in body]
    first = re.findall(r"<tr>(.*?)</tr>", page, re.DOTALL)[0]
    assert set(widths) == {sum(int(span) for span in re.findall(r'colspan="(\d+)"', first))}


def test_markdown_keeps_its_columns_and_escapes(hostile: Table) -> None:
    text = RENDERERS["md"](hostile)
    rows = [line for line in text.splitlines() if line.startswith("|")]
    widths = {len(re.findall(r"(?<!\\)\|", row)) for row in rows}
    assert len(widths) == 1
    assert "<script>" not in text.replace(r"\<script", "")
    assert r"[link\](x)" in text


@pytest.mark.parametrize("text", ["d_model", "h=1", "+0.5 [+0.1, +0.9]", "~", "P_drop=0.0", "a|b"])
def test_markdown_leaves_harmless_text_readable(text: str) -> None:
    assert markdown.escape(text) == text


def _width(line: str) -> int:
    spanned = sum(int(n) - 1 for n in re.findall(r"multicolumn\{(\d+)", line))
    return len(re.findall(r"(?<!\\)&", line)) + spanned


def test_latex_is_balanced_and_escaped(hostile: Table) -> None:
    text = RENDERERS["tex"](hostile)
    plain = re.sub(r"\\[\\{}&%$#_]", "", text)
    assert plain.count("{") == plain.count("}")
    assert plain.count("$") % 2 == 0
    begun = re.findall(r"\\begin\{([a-z*]+)\}", text)
    assert sorted(begun) == sorted(re.findall(r"\\end\{([a-z*]+)\}", text))
    assert begun.count("tabular") == 1
    lines = [line for line in text.splitlines() if line.endswith(r"\\")]
    assert len({_width(line) for line in lines}) == 1


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("d_model", r"$d_{\mathrm{model}}$"),
        ("d_k=16", r"$d_{k}$=16"),
        ("eps_ls", r"$\epsilon_{\mathrm{ls}}$"),
        ("N=2", r"$N$=2"),
        ("h", "$h$"),
        ("params (M)", "params (M)"),
        ("learned_positions", r"learned\_positions"),
        ("PPL (dev)", "PPL (dev)"),
    ],
)
def test_latex_writes_the_papers_symbols(text: str, expected: str) -> None:
    assert latex.label(text) == expected


def test_html_writes_the_papers_symbols() -> None:
    assert html.symbols("d_model=256") == [("d", "model"), ("=256", "")]
    assert html.symbols("eps_ls") == [("ε", "ls")]
    assert html.symbols("plain") == [("plain", "")]


def test_csv_is_read_back_with_every_digit(bench: Bench) -> None:
    bench.row("base", {1: 20.123456789012345, 2: 20.2, 3: 20.3}, reported={"bleu": 25.8})
    bench.row("h=4", {1: 19.0}, {}, failed={2: 'it said "no", twice'}, reported={"bleu": 24.9})
    base, row = csv.DictReader(io.StringIO(RENDERERS["csv"](bench.table())))
    mean = (20.123456789012345 + 20.2 + 20.3) / 3
    assert float(base["valid.bleu"]) == pytest.approx(mean, abs=1e-12)
    assert base["base"] == "yes"
    assert (row["model.heads"], row["model.dropout"]) == ("2", "0.1")
    assert (row["completed"], row["planned"], row["valid.bleu.n"]) == ("1", "3", "1")
    assert row["valid.bleu.sd"] == ""
    assert row["valid.bleu.sign"] == "(same)"
    assert row["valid.ppl.state"] == "not measured"
    assert 'seed 2 failed: it said "no", twice' in row["notes"]
    assert len(row["runs"].split()) == 3


def test_json_is_json(hostile: Table) -> None:
    assert json.loads(RENDERERS["json"](hostile))["title"] == HOSTILE


def test_formats_are_checked() -> None:
    assert formats("md, tex,md") == ["md", "tex"]
    with pytest.raises(InputError, match="unknown format 'markdown'"):
        formats("markdown")
    with pytest.raises(InputError, match="name at least one"):
        formats("")


def test_check_names_the_files_that_differ(bench: Bench, tmp_path: Path) -> None:
    bench.row("base", {1: 20.0})
    made = files(bench.table())
    for name, content in made.items():
        (tmp_path / name).write_text(content, encoding="utf-8")
    check(tmp_path, made)
    (tmp_path / "table.md").write_text(made["table.md"].replace("20.0", "21.0"), encoding="utf-8")
    (tmp_path / "table.csv").unlink()
    with pytest.raises(RunFailed, match=r"table\.md differs from its records, first in line \d+") as caught:
        check(tmp_path, made)
    assert "table.csv does not exist" in str(caught.value)
    assert "table.tex" not in str(caught.value)
