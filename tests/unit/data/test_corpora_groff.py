"""Manual pages read from lines of our own in the form of the real ones."""

from __future__ import annotations

import pytest

from ablatable.data.corpora import manpages
from ablatable.data.corpora.groff import Block, arguments, blocks, plain, sections


@pytest.mark.parametrize(
    ("escaped", "text"),
    [
        (r"a \fBbold\fP and \f[I]slanted\fR word", "a bold and slanted word"),
        (r"the option \-x", "the option -x"),
        (r"it\(aqs and it\[aq]s", "it's and it's"),
        (r"one\(emtwo\[en]three", "one—two–three"),
        (r"\*(lqquoted\*(rq", "“quoted”"),
        (r"narrow\|space\&joined\ kept", "narrowspacejoined kept"),
        (r"\s-1small\s0", "small"),
        (r"a \e b", "a \\ b"),
        (r"Gr\[:o]\[ss]e", "Größe"),
        (r"a number \n(.x register", None),
        (r"an \[unheardof] one", None),
        (r"half \u up \d", None),
        ("a wrong \ufffd byte", None),
    ],
)
def test_escapes_are_read_or_the_block_is_given_up(escaped: str, text: str | None) -> None:
    assert plain(escaped) == text


def test_arguments_split_at_spaces_outside_quotes() -> None:
    assert arguments(r'open "(2), and" \-x "a ""b"" c" d\ e') == ["open", "(2), and", r"\-x", 'a "b" c', r"d\ e"]


_ENGLISH = r""".\" a remark
.TH box 7 2020-01-01
.SH NAME
box \- a box of our own
.SH DESCRIPTION
.\" another
The function
.BR box ()
opens
.IR "the lid" ,
as \
said.
It is " quoted".
.PP
Second \(em paragraph.
.nf
    code that nobody reads
.fi
.TP
.B \-l
The lid is left open.
.IP \(bu 3
An item.
.RS
A hint.
.RE

A paragraph after an empty line.
.TS
a table
.TE
.UR somewhere
Text under a macro that is not known.
.UE
.PP
   laid out by hand
.PP
The last one.
"""


def test_the_blocks_of_a_page() -> None:
    found = [(block.kind, block.text) for block in blocks(_ENGLISH)]
    assert found == [
        ("start", None),
        ("SH", "NAME"),
        ("after SH", "box - a box of our own"),
        ("SH", "DESCRIPTION"),
        ("after SH", 'The function box() opens the lid, as said. It is " quoted".'),
        ("P", "Second — paragraph."),
        ("nf", None),
        ("after", None),
        ("TP", "The lid is left open."),
        ("IP", "An item."),
        ("RS", "A hint."),
        ("RE", None),
        ("P", "A paragraph after an empty line."),
        ("TS", None),
        ("after", None),
        ("P", None),
        ("P", "The last one."),
    ]


def test_sections_begin_with_their_heading() -> None:
    assert [section[0] for section in sections(_ENGLISH)] == [Block("SH", "NAME"), Block("SH", "DESCRIPTION")]
    assert list(sections(".so man3/other.3\n")) == []


_GERMAN = r"""'\" t
.TH box 7 "1. Januar 2020"
.SH BEZEICHNUNG
box \- eine eigene Schachtel
.SH BESCHREIBUNG
Die Funktion \fBbox\fP() öffnet \fIden Deckel\fP.
.PP
Zweiter Absatz.
{extra}.SH ÜBERSETZUNG
Von niemandem.
"""
_SHORT = """.SH NAME
box \\- a box of our own
.SH DESCRIPTION
The function \\fBbox\\fP() opens the lid.
.PP
Second paragraph.
"""


def test_blocks_in_the_same_place_are_pairs() -> None:
    assert list(manpages.paired(_SHORT, _GERMAN.replace("{extra}", ""))) == [
        ("NAME", "BEZEICHNUNG"),
        ("box - a box of our own", "box - eine eigene Schachtel"),
        ("DESCRIPTION", "BESCHREIBUNG"),
        ("The function box() opens the lid.", "Die Funktion box() öffnet den Deckel."),
        ("Second paragraph.", "Zweiter Absatz."),
    ]


def test_a_section_with_another_block_gives_no_pairs_but_the_others_do() -> None:
    pairs = list(manpages.paired(_SHORT, _GERMAN.replace("{extra}", ".PP\nEiner zu viel.\n")))
    assert pairs == [("NAME", "BEZEICHNUNG"), ("box - a box of our own", "box - eine eigene Schachtel")]


def test_a_page_with_other_sections_gives_no_pairs() -> None:
    assert list(manpages.paired(_SHORT, _GERMAN.replace("{extra}", ".SH NOCH EINER\nText.\n"))) == []
    assert list(manpages.paired(_SHORT, ".SH BEZEICHNUNG\nbox\n")) == []
