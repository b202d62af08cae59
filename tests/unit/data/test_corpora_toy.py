# ruff: noqa: E501 - a case is one line of a table
from __future__ import annotations

import re
from collections import Counter
from functools import cache
from pathlib import Path

import pytest

from ablatable.config.data import Data
from ablatable.data.corpora import get
from ablatable.data.corpora.toy import german
from ablatable.data.corpora.toy.clauses import Clause
from ablatable.data.corpora.toy.corpus import draw_pairs
from ablatable.data.corpora.toy.english import indefinite, third_person
from ablatable.data.corpora.toy.nouns import COMPOUNDS, NOUNS, Noun
from ablatable.data.corpora.toy.phrases import HE, YOU, I, Modifier, Name, NounPhrase, Prepositional
from ablatable.data.corpora.toy.verbs import MOTION, POSITION, PUT, THAT, TO, VERBS, WHETHER, Verb
from ablatable.data.corpora.toy.words import (
    ADJECTIVES,
    EVERY,
    FREQUENCIES,
    MANY,
    MY,
    NO,
    NUMBERS,
    OUR,
    THE,
    THIS,
    TIMES,
    A,
    Adjective,
    Determiner,
    name_determiner,
)


@cache
def _sample() -> list[tuple[str, str]]:
    return draw_pairs(3000)


def _noun(german_word: str) -> Noun:
    return next(noun for noun in NOUNS if noun.german == german_word)


def _adjective(word: str) -> Adjective:
    return next(adjective for adjective in ADJECTIVES if adjective.german == word)


def _verb(infinitive: str, english: str | None = None) -> Verb:
    every = [*VERBS, *MOTION, *POSITION, *PUT, *THAT, *TO, *WHETHER]
    return next(v for v in every if v.full_infinitive == infinitive and english in (None, v.english))


def _phrase(determiner: Determiner, adjective: str, noun: str, plural: bool = False) -> NounPhrase:
    return NounPhrase(determiner, _noun(noun), plural, (Modifier(_adjective(adjective)),))


@pytest.mark.parametrize(
    ("phrase", "forms"),
    [
        (_phrase(THE, "alt", "Mann"), "der alte Mann, den alten Mann, dem alten Mann, des alten Mannes"),
        (_phrase(A, "alt", "Mann"), "ein alter Mann, einen alten Mann, einem alten Mann, eines alten Mannes"),
        (_phrase(A, "schön", "Blume"), "eine schöne Blume, eine schöne Blume, einer schönen Blume, einer schönen Blume"),
        (_phrase(MY, "neu", "Buch"), "mein neues Buch, mein neues Buch, meinem neuen Buch, meines neuen Buches"),
        (_phrase(OUR, "hoch", "Haus"), "unser hohes Haus, unser hohes Haus, unserem hohen Haus, unseres hohen Hauses"),
        (_phrase(THIS, "teuer", "Tasche"), "diese teure Tasche, diese teure Tasche, dieser teuren Tasche, dieser teuren Tasche"),
        (_phrase(EVERY, "klein", "Kind"), "jedes kleine Kind, jedes kleine Kind, jedem kleinen Kind, jedes kleinen Kindes"),
        (_phrase(THE, "jung", "Student"), "der junge Student, den jungen Studenten, dem jungen Studenten, des jungen Studenten"),
        (_phrase(THE, "müde", "Hund", True), "die müden Hunde, die müden Hunde, den müden Hunden, der müden Hunde"),
        (_phrase(A, "müde", "Hund", True), "müde Hunde, müde Hunde, müden Hunden, müder Hunde"),
        (_phrase(NO, "gut", "Lehrer", True), "keine guten Lehrer, keine guten Lehrer, keinen guten Lehrern, keiner guten Lehrer"),
        (_phrase(MANY, "rot", "Auto", True), "viele rote Autos, viele rote Autos, vielen roten Autos, vieler roter Autos"),
        (_phrase(A, "kalt", "Milch"), "kalte Milch, kalte Milch, kalter Milch, kalter Milch"),
        (_phrase(A, "kalt", "Wasser"), "kaltes Wasser, kaltes Wasser, kaltem Wasser, kalten Wassers"),
        (_phrase(name_determiner("Anna"), "groß", "Ball"), "Annas großer Ball, Annas großen Ball, Annas großem Ball, Annas großen Balls"),
    ],
)  # fmt: skip
def test_article_adjective_and_noun_agree(phrase: NounPhrase, forms: str) -> None:
    assert [phrase.german(case) for case in ("nom", "acc", "dat", "gen")] == forms.split(", ")


def test_a_number_leaves_the_article_out_and_the_adjective_strong() -> None:
    assert _phrase(NUMBERS[0], "alt", "Buch", True).german("dat") == "zwei alten Büchern"


def test_compounds_take_gender_and_inflection_from_their_head() -> None:
    door = next(noun for noun in COMPOUNDS if noun.english == "kitchen door")
    assert (door.german, door.gender, door.plural) == ("Küchentür", "f", "Küchentüren")
    assert next(noun for noun in COMPOUNDS if noun.german == "Schlossschlüssel").english == "castle key"
    assert len(COMPOUNDS) >= 50


def test_lexicon_tables_are_complete_and_without_repeats() -> None:
    assert len(NOUNS) + len(VERBS) + len(ADJECTIVES) >= 250
    assert all(noun.gender in ("m", "f", "n") for noun in NOUNS)
    assert len({noun.english for noun in NOUNS}) == len(NOUNS)
    assert len({verb.english for verb in VERBS}) == len(VERBS)
    for noun in NOUNS:
        assert noun.german[0].isupper()
        assert bool(noun.plural) == bool(noun.english_plural)
    for verb in [*VERBS, *MOTION, *POSITION, *PUT, *THAT, *TO, *WHETHER]:
        assert verb.infinitive.endswith("n")
        assert verb.present.endswith("t") or verb.infinitive == "wissen"
        assert verb.auxiliary in ("haben", "sein")
        assert not verb.prefix or verb.participle.startswith(verb.prefix)
        assert verb.participle[-1] in "nt"


@pytest.mark.parametrize(
    ("infinitive", "forms"),
    [
        ("lesen", "lese, liest, lesen, las, lasen"),
        ("füttern", "füttere, füttert, füttern, fütterte, fütterten"),
        ("arbeiten", "arbeite, arbeitet, arbeiten, arbeitete, arbeiteten"),
        ("wissen", "weiß, weiß, wissen, wusste, wussten"),
        ("essen", "esse, isst, essen, aß, aßen"),
    ],
)
def test_verbs_agree_with_their_subject(infinitive: str, forms: str) -> None:
    verb = _verb(infinitive)
    found = [german.finite(verb, person, plural, past=False) for person, plural in ((1, False), (3, False), (3, True))]
    found += [german.finite(verb, 3, plural, past=True) for plural in (False, True)]
    assert found == forms.split(", ")


_DOOR = NounPhrase(THE, _noun("Tür"))


def _opens(**changes: object) -> Clause:
    fields: dict[str, object] = {"subject": HE, "verb": _verb("aufmachen"), "accusative": _DOOR, **changes}
    return Clause(**fields)  # pyright: ignore[reportArgumentType] - fields are named by the cases below


_TODAY = next(word for word in TIMES if word.english == "today")
_OFTEN = next(word for word in FREQUENCIES if word.english == "often")


@pytest.mark.parametrize(
    ("changes", "english", "statement", "subordinate"),
    [
        ({}, "he opens the door", "er macht die Tür auf", "er die Tür aufmacht"),
        ({"tense": "past"}, "he opened the door", "er machte die Tür auf", "er die Tür aufmachte"),
        ({"tense": "perfect"}, "he has opened the door", "er hat die Tür aufgemacht", "er die Tür aufgemacht hat"),
        ({"tense": "future"}, "he will open the door", "er wird die Tür aufmachen", "er die Tür aufmachen wird"),
        ({"tense": "can"}, "he can open the door", "er kann die Tür aufmachen", "er die Tür aufmachen kann"),
        ({"tense": "want"}, "he wants to open the door", "er will die Tür aufmachen", "er die Tür aufmachen will"),
        ({"tense": "must past"}, "he had to open the door", "er musste die Tür aufmachen", "er die Tür aufmachen musste"),
        ({"tense": "may past"}, "he was allowed to open the door", "er durfte die Tür aufmachen", "er die Tür aufmachen durfte"),
        ({"negated": True}, "he does not open the door", "er macht die Tür nicht auf", "er die Tür nicht aufmacht"),
        ({"negated": True, "tense": "must"}, "he does not have to open the door", "er muss die Tür nicht aufmachen", "er die Tür nicht aufmachen muss"),
        ({"negated": True, "accusative": NounPhrase(A, _noun("Tür"))}, "he does not open a door", "er macht keine Tür auf", "er keine Tür aufmacht"),
        ({"time": _TODAY}, "he opens the door today", "er macht heute die Tür auf", "er heute die Tür aufmacht"),
        ({"time": _TODAY, "time_first": True}, "today, he opens the door", "heute macht er die Tür auf", "er die Tür aufmacht"),
        ({"time": _OFTEN}, "he often opens the door", "er macht oft die Tür auf", "er oft die Tür aufmacht"),
        ({"subject": I}, "I open the door", "ich mache die Tür auf", "ich die Tür aufmache"),
    ],
)  # fmt: skip
def test_word_order(changes: dict[str, object], english: str, statement: str, subordinate: str) -> None:
    clause = _opens(**changes)
    assert clause.english() == english
    assert clause.german() == statement
    assert clause.german_final() == subordinate


def test_questions_infinitives_and_commands() -> None:
    clause = _opens()
    assert clause.english_question() == "does he open the door"
    assert clause.german_inverted() == "macht er die Tür auf"
    assert clause.german_infinitive() == "die Tür aufzumachen"
    assert _opens(subject=YOU).german_inverted() == "machen Sie die Tür auf"


def test_reflexive_pronouns_agree_with_their_subject() -> None:
    verb = _verb("erinnern")
    about = Prepositional("", verb.preposition, verb.case, NounPhrase(THE, _noun("Reise")))
    said = [Clause(subject, verb, prepositional=about).german() for subject in (I, HE, YOU)]
    assert said == [
        "ich erinnere mich an die Reise",
        "er erinnert sich an die Reise",
        "Sie erinnern sich an die Reise",
    ]


def test_the_dative_comes_before_the_accusative() -> None:
    clause = Clause(
        Name("Anna", "f"),
        _verb("geben"),
        dative=NounPhrase(THE, _noun("Kind")),
        accusative=NounPhrase(A, _noun("Ball")),
    )
    assert clause.english() == "Anna gives the child a ball"
    assert clause.german() == "Anna gibt dem Kind einen Ball"


def test_the_passive_turns_the_actor_into_an_agent() -> None:
    clause = Clause(_DOOR, _verb("putzen"), "past", passive=True, agent=NounPhrase(THE, _noun("Lehrer")))
    assert clause.english() == "the door was cleaned by the teacher"
    assert clause.german() == "die Tür wurde vom Lehrer geputzt"


def test_prepositions_contract_with_the_definite_article_only() -> None:
    assert german.prepositional("in", "dem alten Haus") == "im alten Haus"
    assert german.prepositional("in", "das Haus") == "ins Haus"
    assert german.prepositional("von", "dem Lehrer") == "vom Lehrer"
    assert german.prepositional("in", "diesem Haus") == "in diesem Haus"
    assert german.prepositional("vor", "dem Haus") == "vor dem Haus"


@pytest.mark.parametrize(
    ("word", "article"),
    [("apple", "an"), ("old man", "an"), ("uncle", "an"), ("ugly hat", "an"), ("blue hat", "a")],
)
def test_indefinite_article(word: str, article: str) -> None:
    assert indefinite(word) == article


def test_third_person() -> None:
    bases = ["look for", "wash", "carry", "play with", "go", "switch on", "tidy up"]
    assert [third_person(base) for base in bases] == [
        "looks for", "washes", "carries", "plays with", "goes", "switches on", "tidies up",
    ]  # fmt: skip


def test_the_same_sentences_every_time() -> None:
    assert draw_pairs(200) == _sample()[:200]


def test_sentences_are_distinct_on_both_sides() -> None:
    pairs = _sample()
    assert len({source for source, _ in pairs}) == len(pairs)
    assert len({target for _, target in pairs}) > 0.999 * len(pairs)


def test_sentences_are_well_formed() -> None:
    for source, target in _sample():
        for side in (source, target):
            assert re.fullmatch(r"[A-ZÄÖÜ][^.!?]*[.!?]", side), side
            assert not re.search(r"\s[,.!?]|,,|,[^ ]|\s\s|,[.!?]", side), side
        assert source[-1] == target[-1]


_MODALS = {"kann", "können", "konnte", "konnten", "muss", "müssen", "musste", "mussten", "will", "wollen", "wollte",
           "wollten", "darf", "dürfen", "durfte", "durften", "sollte", "sollten"}  # fmt: skip


def _finite_forms() -> set[str]:
    forms: set[str] = set(_MODALS) | {"ist", "sind", "bin", "war", "waren", "hat", "habe", "haben", "wird", "werde", "werden",
                                      "wurde", "wurden"}  # fmt: skip
    for verb in [*VERBS, *MOTION, *POSITION, *PUT, *THAT, *TO, *WHETHER]:
        for past in (False, True):
            forms |= {
                verb.prefix + german.finite(verb, person, plural, past) for person in (1, 3) for plural in (False, True)
            }
    return forms


def test_subordinate_clauses_end_in_their_finite_verb() -> None:
    finite = _finite_forms()
    checked = 0
    for _, target in _sample():
        match = re.search(r", (?:weil|obwohl|wenn|während|bevor|sobald|bis|damit|dass|ob) ([^,]*)[.?]$", target)
        if match:
            assert match[1].split()[-1] in finite, target
            checked += 1
    assert checked > 300


def test_relative_clauses_end_in_their_finite_verb() -> None:
    finite = _finite_forms()
    checked = 0
    for _, target in _sample():
        match = re.search(r"\w, (?:der|die|das|den|dem|denen) ([^,]*),", target)
        if match and "und" not in match[1].split():
            assert match[1].split()[-1] in finite, target
            checked += 1
    assert checked > 20


def test_statements_put_the_finite_verb_second_after_an_adverb() -> None:
    finite = _finite_forms() | {
        german.finite(v, p, n, t) for v in VERBS for p in (1, 3) for n in (False, True) for t in (False, True)
    }
    checked = 0
    for _, target in _sample():
        if target.startswith(("Heute ", "Gestern ", "Morgen ", "Jetzt ", "Nachts ")):
            assert target.split()[1].rstrip(",.") in finite, target
            checked += 1
    assert checked > 30


def test_every_kind_of_construction_is_heard() -> None:
    text = "\n".join(target for _, target in _sample())
    for part in (
        ", dass ",
        ", ob ",
        ", um ",
        " zu ",
        "zurückkehren",
        " sich ",
        " wurde",
        " größer als ",
        "Warum ",
        "Bitte ",
        "Es gibt ",
    ):
        assert part in text, part
    lengths = Counter(len(source.split()) for source, _ in _sample())
    assert min(lengths) <= 4
    assert max(lengths) >= 20


@pytest.mark.slow
def test_the_whole_corpus(tmp_path: Path) -> None:
    said: list[str] = []
    corpus = get(Data(corpus="toy-en-de"), tmp_path, said.append)
    assert corpus.card.splits["train"].pairs >= 50_000
    assert corpus.card.splits["valid"].pairs == corpus.card.splits["test"].pairs == 1000
    assert all(facts.duplicates == 0 for facts in corpus.card.splits.values())
    assert corpus.card.overlap["test"].sources == 0
    assert corpus.fingerprint == "d218c558bb6794ea"
