"""The dictionary's form, on entries of our own."""

from __future__ import annotations

import pytest

from ablatable.data.corpora.ding import paired, plain


@pytest.mark.parametrize(
    ("side", "text"),
    [
        (" Der Kasten {m} ist leer. ", "Der Kasten ist leer."),
        ("The box [coll.] is (quite (very)) empty. <box>", "The box is empty."),
        ("It is empty.; There is nothing in it.", "It is empty."),
    ],
)
def test_remarks_and_alternatives_go(side: str, text: str) -> None:
    assert plain(side) == text


@pytest.mark.parametrize(
    ("line", "pairs"),
    [
        (
            "Kasten {m} | Kästen {pl} | Der Kasten ist leer. :: box | boxes | The box is empty.",
            [("The box is empty.", "Der Kasten ist leer.")],
        ),
        ("Ist der Kasten leer? :: Is the box empty?; Is it?", [("Is the box empty?", "Ist der Kasten leer?")]),
        ("12 Kästen fehlen! :: 12 boxes are gone!", [("12 boxes are gone!", "12 Kästen fehlen!")]),
        ("# Der Kasten ist leer. :: The box is empty.", []),
        ("Der Kasten ist leer.", []),
        ("Der Kasten ist leer. | Er ist zu. :: The box is empty.", []),  # not the same number of uses
        ("der Kasten ist leer. :: the box is empty.", []),
        ("Der Kasten ist leer :: The box is empty", []),
        ("Der Kasten ist leer/voll. :: The box is empty.", []),
        ("Er fragt jdn. nach dem Kasten. :: He asks about the box.", []),
        ("Er tut es. :: He does sth. with it.", []),
        ("Der Kasten … :: The box is …", []),
        ("Der Kasten (offen ist leer. :: The box is empty.", []),  # a bracket that does not close
    ],
)
def test_whole_sentences_without_choices_are_pairs(line: str, pairs: list[tuple[str, str]]) -> None:
    assert list(paired(iter([line]))) == pairs
