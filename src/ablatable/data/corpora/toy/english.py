"""English inflection: articles, third person, and the auxiliaries of every tense."""

from __future__ import annotations

from dataclasses import dataclass

from ablatable.data.corpora.toy.verbs import BE, Verb

_CONSONANT_SOUND = ("use", "uni", "uk", "one", "eu")


def indefinite(word: str) -> str:
    """Return "a" or "an" before ``word``."""
    vowel = word[0].lower() in "aeiou" and not word.lower().startswith(_CONSONANT_SOUND)
    return "an" if vowel else "a"


def third_person(base: str) -> str:
    """Return the third person singular of the first word of ``base`` ("look for" -> "looks for")."""
    first, *rest = base.split(" ")
    if first == "have":
        first = "has"
    elif first.endswith(("s", "sh", "ch", "x", "o")):
        first += "es"
    elif first.endswith("y") and first[-2] not in "aeiou":
        first = first[:-1] + "ies"
    else:
        first += "s"
    return " ".join([first, *rest])


def be(person: int, plural: bool, past: bool) -> str:
    """Return the finite form of "be"."""
    if plural:
        return "were" if past else "are"
    if past:
        return "was"
    return "am" if person == 1 else "is"


@dataclass(frozen=True)
class VerbGroup:
    """A finite auxiliary, empty where there is none, and the rest ("has", "read")."""

    auxiliary: str
    rest: str


MODALS = {"can": "können", "must": "müssen", "want": "wollen", "may": "dürfen", "should": "sollen"}
"""English modals and their German partners."""


def _plain(base: str, past_form: str, person: int, plural: bool, past: bool, support: bool) -> VerbGroup:
    """Return simple present or past; with ``support`` (questions, negation) it goes through "do"."""
    if support:
        return VerbGroup("did" if past else "do" if plural or person == 1 else "does", base)
    if past:
        return VerbGroup("", past_form)
    return VerbGroup("", base if plural or person == 1 else third_person(base))


def _modal(modal: str, verb: Verb, person: int, plural: bool, past: bool, support: bool) -> VerbGroup:
    """Return a modal and infinitive; negated or past "must" is "have to", past "may" is "be allowed to"."""
    if modal == "want" or (modal == "must" and (past or support)):
        forms = ("want", "wanted") if modal == "want" else ("have", "had")
        group = _plain(*forms, person, plural, past, support)
        return VerbGroup(group.auxiliary, f"{group.rest} to {verb.english}")
    if modal == "may" and past:
        return VerbGroup(be(person, plural, past), f"allowed to {verb.english}")
    return VerbGroup("could" if modal == "can" and past else modal, verb.english)


def verb_group(verb: Verb, tense: str, person: int, plural: bool, support: bool) -> VerbGroup:
    """Return the words of one tense: present, past, perfect, future, or a modal ("can", "can past")."""
    modal, _, modal_past = tense.partition(" ")
    if modal in MODALS:
        return _modal(modal, verb, person, plural, bool(modal_past), support)
    if tense == "perfect":
        return VerbGroup("have" if plural or person == 1 else "has", verb.english_participle)
    if tense == "future":
        return VerbGroup("will", verb.english)
    if verb is BE:
        return VerbGroup(be(person, plural, tense == "past"), "")
    return _plain(verb.english, verb.english_past, person, plural, tense == "past", support)


def passive_group(verb: Verb, tense: str, person: int, plural: bool) -> VerbGroup:
    """Return the passive in the present or past."""
    return VerbGroup(be(person, plural, tense == "past"), verb.english_participle)
