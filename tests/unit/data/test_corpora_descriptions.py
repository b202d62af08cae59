"""Apt's Translation indexes, on stanzas of our own."""

from __future__ import annotations

from ablatable.data.corpora.descriptions import descriptions, paired, pieces, unwrapped

_ENGLISH = """box of our own
 The box has a lid
 and four sides.
 .
 It can be:
  * opened,
    with care
  * closed
 .
    by hand
    laid out
"""

_GERMAN = """eigene Schachtel
 Die Schachtel hat einen Deckel und
 vier Seiten.
 .
 Man kann sie
  - öffnen,
    mit Vorsicht
  - schließen
 .
    von Hand
"""


def test_an_index_is_read_by_checksum() -> None:
    index = (
        f"Package: box\nDescription-md5: aa\nDescription-en: {_ENGLISH}"
        "\nPackage: box2\nDescription-md5: bb\nDescription-en: another\n"
        "\nPackage: box3\nDescription-md5: bb\nDescription-en: the same checksum again\n"
        "\nPackage: box4\nDescription-en: no checksum\n"
    )
    assert descriptions(index) == {"aa": _ENGLISH.rstrip("\n"), "bb": "another"}


def test_paragraphs_items_and_what_is_laid_out_by_hand() -> None:
    found = [[(piece.kind, piece.text) for piece in paragraph] for paragraph in pieces(_ENGLISH.rstrip("\n"))]
    assert found == [
        [("synopsis", "box of our own")],
        [("text", "The box has a lid and four sides.")],
        [("text", "It can be:"), ("item", "opened, with care"), ("item", "closed")],
        [("laid out", ""), ("laid out", "")],
    ]


def test_paragraphs_with_the_same_pieces_are_pairs() -> None:
    pairs = list(paired({"aa": _ENGLISH.rstrip("\n"), "cc": "x"}, {"aa": _GERMAN.rstrip("\n"), "bb": "y"}))
    assert pairs == [
        ("box of our own", "eigene Schachtel"),
        ("The box has a lid and four sides.", "Die Schachtel hat einen Deckel und vier Seiten."),
        ("It can be:", "Man kann sie"),
        ("opened, with care", "öffnen, mit Vorsicht"),
        ("closed", "schließen"),
    ]


def test_a_missing_item_or_paragraph_gives_no_pairs() -> None:
    shorter = _GERMAN.replace("  - schließen\n", "").rstrip("\n")
    assert [pair[0] for pair in paired({"aa": _ENGLISH.rstrip("\n")}, {"aa": shorter})] == [
        "box of our own",
        "The box has a lid and four sides.",
    ]
    assert list(paired({"aa": "a\n b\n .\n c"}, {"aa": "a\n b"})) == []


def test_a_synopsis_that_was_rewritten_is_left_out() -> None:
    assert list(paired({"aa": "files for libbox\n Yes."}, {"aa": "Schachteln - Dateien\n Ja."})) == [("Yes.", "Ja.")]
    assert list(paired({"aa": "libbox - files"}, {"aa": "Schachteln -- Dateien"})) == [
        ("libbox - files", "Schachteln -- Dateien")
    ]


def test_words_broken_at_a_hyphen_are_closed_and_lists_of_halves_are_not() -> None:
    assert unwrapped("Unix- Systeme und Ein- und Ausgabe") == "Unix-Systeme und Ein- und Ausgabe"
    assert unwrapped("cross- platform, pre- or post-war - here") == "cross-platform, pre- or post-war - here"
