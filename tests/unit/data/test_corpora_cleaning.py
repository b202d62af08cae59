from __future__ import annotations

import re

import pytest

from ablatable.data.corpora.cleaning import Rules, clean, drop_mac_keys, normalise, rejected, sentences, split_together
from ablatable.data.corpora.markup import paragraphs


def test_paragraphs_with_an_id_are_found_and_code_is_not() -> None:
    page = """<h1 id="a">Title &amp; more</h1><p>no id</p><p id="b" class="paragraph">One <b>bold</b>
    word</p><p id="c" class="codeintable">Dim x</p><p id="d">  </p><h6 id="e">Last</h6>"""
    assert paragraphs(page) == {"a": "Title & more", "b": "One bold\n    word", "e": "Last"}


def test_the_first_occurrence_of_an_id_wins() -> None:
    assert paragraphs('<p id="a">first</p><p id="a">second</p>') == {"a": "first"}


def test_an_unclosed_paragraph_ends_at_the_next_and_at_the_end_of_the_page() -> None:
    assert paragraphs('<p id="a">one<p id="b">two') == {"a": "one", "b": "two"}


def test_comments_and_angle_brackets_in_attributes_are_not_text() -> None:
    assert paragraphs('<p id="a">x <!-- <p id="z">no</p> --><img alt="a > b">y</p>') == {"a": "x y"}


def test_of_alternatives_a_reader_sees_the_default_one() -> None:
    page = '<p id="a">Press <span class="switchinline"><span class="MAC">Command</span><span>Ctrl</span></span>+C.</p>'
    assert paragraphs(page) == {"a": "Press Ctrl+C."}


def test_of_alternatives_without_a_default_the_first_is_taken() -> None:
    options = '<span class="CALC">sheet</span><span class="DRAW">page</span>'
    page = f'<p id="a"><span class="switchinline">{options}</span></p>'
    assert paragraphs(page) == {"a": "sheet"}


def test_a_switch_inside_an_alternative_is_resolved_first() -> None:
    inner = '<span class="switchinline"><span class="MAC">x</span><span>y</span></span>'
    page = f'<p id="a"><span class="switchinline"><span class="MAC">m</span><span>d{inner}</span></span></p>'
    assert paragraphs(page) == {"a": "dy"}


def test_a_line_break_separates_words() -> None:
    assert paragraphs('<p id="a">one<br/>two</p>') == {"a": "one two"}


@pytest.mark.parametrize(
    ("raw", "clean"),
    [
        ("  a \n\t b  ", "a b"),
        ("a\u00a0b\u2028c", "a b c"),
        ("Sil\u00adben\u200btrennung", "Silbentrennung"),
        ("u\u0308ber", "über"),
        ("the icon .", "the icon."),
        ("the file .pdf", "the file .pdf"),
        ("( Icon )", "(Icon)"),
    ],
)
def test_normalise(raw: str, clean: str) -> None:
    assert normalise(raw) == clean


@pytest.mark.parametrize(
    ("raw", "clean"),
    [
        ("Press CommandCtrl+C", "Press Ctrl+C"),
        ("Drücken Sie Befehl Strg+C", "Drücken Sie Strg+C"),
        ("OptionAlt+Enter", "Alt+Enter"),
        ("Wahltaste Alt+Eingabe", "Alt+Eingabe"),
        ("Run the Command", "Run the Command"),
        ("Optional Alternative", "Optional Alternative"),
    ],
)
def test_mac_keys_go_only_before_their_pc_names(raw: str, clean: str) -> None:
    assert drop_mac_keys(raw) == clean


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("One is here. Two is there.", 2),
        ("Is it? Yes! Good.", 3),
        ("Nehmen Sie z. B. Wasser. Gut.", 2),
        ("Das heißt, d.h. Wasser, Nr. 5 und usw. Mehr.", 1),
        ("See e.g. Writer, i.e. The editor.", 1),
        ("Am 5. Mai beginnt es.", 1),
        ('He said "Stop." Then he left.', 2),
        ("version 7.4 is here", 1),
        ("Note: This is one.", 1),
    ],
)
def test_sentences(text: str, count: int) -> None:
    assert len(sentences(text)) == count


def test_sentences_pair_up_only_where_both_sides_have_as_many() -> None:
    assert split_together("One. Two.", "Eins. Zwei.") == [("One.", "Eins."), ("Two.", "Zwei.")]
    assert split_together("One. Two.", "Eins und zwei.") == [("One. Two.", "Eins und zwei.")]


_GOOD = "this is a fine sentence"


@pytest.mark.parametrize(
    ("source", "target", "reason"),
    [
        (_GOOD, "das ist ein guter Satz", None),
        (_GOOD, "zu kurz hier", "length"),
        ("word " * 101, "Wort " * 90, "length"),
        ("one two three four five", "eins " * 16, "ratio"),
        (_GOOD, _GOOD, "identical sides"),
        (_GOOD, "das ist {0} ein Satz", "code symbols"),
        ("a path C:\\temp is here now", "ein guter Satz steht hier", "code symbols"),
        ("call the function run() here now", "ein guter Satz steht hier", "code symbols"),
        ("visit www.example.org to see more", "ein guter Satz steht hier", "address"),
        ("12 + 34 + 56 = 102", "ein guter Satz steht hier", "code symbols"),
        ("12 + 34 + 56 ... 102 !", "ein guter Satz steht hier", "few letters"),
    ],
)
def test_rejected(source: str, target: str, reason: str | None) -> None:
    assert rejected(source.strip(), target.strip()) == reason


def test_the_limits_themselves_are_kept() -> None:
    assert rejected("one two three four", "eins zwei drei vier") is None
    assert rejected("word " * 99 + "end", "Wort " * 99 + "Ende") is None
    assert rejected("one two three four", " ".join(["eins"] * 12)) is None


def test_rules_of_a_corpus_set_the_shortest_side_and_what_is_code() -> None:
    short, call = ("She dropped in.", "Sie kam vorbei."), ("The call read() reads it.", "Der Aufruf read() liest es.")
    assert rejected(*short) == "length"
    assert rejected(*short, Rules(minimum_words=3)) is None
    assert rejected(*call) == "code symbols"
    assert rejected(*call, Rules(code=re.compile("[{}]"))) is None


def test_clean_counts_every_step() -> None:
    raw = [
        ("One box is here. Another is there.", "Eine Kiste ist hier. Eine andere ist dort."),
        ("One box is here.", "Eine Kiste ist hier."),
        ("Too short.", "Zu kurz."),
    ]
    pairs, steps = clean(raw, "texts", rules=Rules(minimum_words=3))
    assert pairs == [("One box is here.", "Eine Kiste ist hier."), ("Another is there.", "Eine andere ist dort.")]
    assert steps == [
        ("texts", 3),
        ("sentence pairs", 4),
        ("dropped: length", 1),
        ("clean pairs", 3),
        ("distinct pairs", 2),
    ]
