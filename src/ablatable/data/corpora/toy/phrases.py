"""Noun phrases that say themselves in English and in German."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Protocol

from ablatable.data.corpora.toy import german
from ablatable.data.corpora.toy.english import indefinite
from ablatable.data.corpora.toy.nouns import Noun, Place
from ablatable.data.corpora.toy.words import NO, A, Adjective, Determiner


class Phrase(Protocol):
    """What a clause needs to know of a noun phrase."""

    @property
    def person(self) -> int:
        """1 or 3."""
        ...

    @property
    def plural(self) -> bool:
        """Number of the verb."""
        ...

    def english(self, subject: bool) -> str:
        """Say it in English as subject or object, with its relative clause."""
        ...

    def german(self, case: str) -> str:
        """Say it in German in a case, without its relative clause."""
        ...


@dataclass(frozen=True)
class Pronoun:
    """A personal pronoun."""

    english_subject: str
    english_object: str
    nominative: str
    accusative: str
    dative: str
    person: int
    plural: bool

    @property
    def formal(self) -> bool:
        """Say whether this is the polite form of address, whose reflexive is "sich"."""
        return self.nominative == "Sie"

    def english(self, subject: bool) -> str:
        """Say it in English."""
        return self.english_subject if subject else self.english_object

    def german(self, case: str) -> str:
        """Say it in German."""
        return {"nom": self.nominative, "acc": self.accusative, "dat": self.dative}[case]


I = Pronoun("I", "me", "ich", "mich", "mir", 1, False)  # noqa: E741 - the English pronoun is the clearest name
HE = Pronoun("he", "him", "er", "ihn", "ihm", 3, False)
SHE = Pronoun("she", "her", "sie", "sie", "ihr", 3, False)
WE = Pronoun("we", "us", "wir", "uns", "uns", 1, True)
THEY = Pronoun("they", "them", "sie", "sie", "ihnen", 3, True)
YOU = Pronoun("you", "you", "Sie", "Sie", "Ihnen", 3, True)
WHO = Pronoun("who", "who", "wer", "wen", "wem", 3, False)
PRONOUNS = [I, HE, SHE, WE, THEY, YOU]


@dataclass(frozen=True)
class Name:
    """A person's name, the same in both languages and all cases used."""

    name: str
    gender: str
    person: int = 3
    plural: bool = False

    def english(self, subject: bool) -> str:
        """Say it in English."""
        return self.name

    def german(self, case: str) -> str:
        """Say it in German."""
        return self.name


class RelativeClause(Protocol):
    """A clause with a gap, said after its noun."""

    def english(self) -> str:
        """Say it in English, from the relative pronoun on."""
        ...

    def german(self) -> str:
        """Say it in German, without the commas around it."""
        ...


@dataclass(frozen=True)
class Modifier:
    """An adjective as it stands before a noun: ``degree`` is positive, comparative or superlative."""

    adjective: Adjective
    degree: str = "positive"

    def english(self) -> str:
        """Say it in English."""
        word = self.adjective
        forms = {"positive": word.english, "comparative": word.english_comparative}
        return forms.get(self.degree, word.english_superlative)

    def german(self, ending: str) -> str:
        """Say it in German with an ending."""
        word = self.adjective
        forms = {"positive": word.stem, "comparative": word.comparative}
        return forms.get(self.degree, word.superlative) + ending


@dataclass(frozen=True)
class NounPhrase:
    """Determiner, adjectives, noun, genitive and relative clause."""

    determiner: Determiner
    noun: Noun
    plural: bool = False
    modifiers: tuple[Modifier, ...] = ()
    genitive: NounPhrase | None = None
    relative: RelativeClause | None = None
    person: int = 3

    @property
    def bare(self) -> bool:
        """Say whether no article is spoken: an indefinite plural or mass noun."""
        return self.determiner is A and (self.plural or self.noun.mass)

    @property
    def indefinite(self) -> bool:
        """Say whether German negates the phrase with "kein"."""
        return self.determiner is A

    def negated(self) -> NounPhrase:
        """Return the phrase with "no" for its determiner."""
        return replace(self, determiner=NO)

    def english(self, subject: bool) -> str:
        """Say it in English."""
        words = [" and ".join(modifier.english() for modifier in self.modifiers)]
        words.append(self.noun.english_plural if self.plural else self.noun.english)
        text = " ".join(word for word in words if word)
        determiner = self.determiner.plural if self.plural else self.determiner.singular
        if self.bare:
            determiner = ""
        elif self.determiner is A:
            determiner = indefinite(text)
        text = f"{determiner} {text}".strip()
        if self.genitive is not None:
            text += f" of {self.genitive.english(subject=False)}"
        return f"{text} {self.relative.english()}" if self.relative is not None else text

    def german(self, case: str) -> str:
        """Say it in German, without the relative clause."""
        gender = self.noun.gender
        pattern = "strong" if self.bare else self.determiner.adjectives
        ending = german.adjective_ending(pattern, case, gender, self.plural)
        words = [] if self.bare else [german.determiner(self.determiner, case, gender, self.plural)]
        words.append(" und ".join(modifier.german(ending) for modifier in self.modifiers))
        words.append(german.noun(self.noun, case, self.plural))
        if self.genitive is not None:
            words.append(self.genitive.german("gen"))
        return " ".join(word for word in words if word)


@dataclass(frozen=True)
class Both:
    """Two phrases joined by "and"."""

    first: Phrase
    second: Phrase
    person: int = 3
    plural: bool = True

    def english(self, subject: bool) -> str:
        """Say it in English."""
        return f"{self.first.english(subject)} and {self.second.english(subject)}"

    def german(self, case: str) -> str:
        """Say it in German."""
        return f"{self.first.german(case)} und {self.second.german(case)}"


def is_pronoun(phrase: Phrase | None) -> bool:
    """Say whether a phrase is a personal pronoun, which German puts early."""
    return isinstance(phrase, Pronoun)


def relative_of(phrase: Phrase | None) -> RelativeClause | None:
    """Return the relative clause of a phrase, if it has one."""
    return phrase.relative if isinstance(phrase, NounPhrase) else None


@dataclass(frozen=True)
class Prepositional:
    """A preposition with its phrase; the English one is empty where the English verb brings it along."""

    english_preposition: str
    german_preposition: str
    case: str
    phrase: Phrase

    def english(self) -> str:
        """Say it in English."""
        return f"{self.english_preposition} {self.phrase.english(subject=False)}".strip()

    def german(self) -> str:
        """Say it in German."""
        return german.prepositional(self.german_preposition, self.phrase.german(self.case))


def at(place: Place, phrase: Phrase) -> Prepositional:
    """Return being at a place: dative in German."""
    return Prepositional(place.english_at, place.german_at, "dat", phrase)


def towards(place: Place, phrase: Phrase) -> Prepositional:
    """Return going to a place: accusative in German."""
    return Prepositional("to", place.german_at, "acc", phrase)
