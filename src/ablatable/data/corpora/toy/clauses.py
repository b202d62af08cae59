"""Clauses that say themselves in English and in German: where the two word orders part.

German puts the finite verb second in a statement, first in a question and last in a subordinate clause;
separable prefixes, participles and infinitives close the clause.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

from ablatable.data.corpora.toy import english, german
from ablatable.data.corpora.toy.phrases import (
    NounPhrase,
    Phrase,
    Prepositional,
    Pronoun,
    is_pronoun,
    relative_of,
)
from ablatable.data.corpora.toy.verbs import Verb
from ablatable.data.corpora.toy.words import Adverb


def join(*parts: str) -> str:
    """Join the parts that are not empty."""
    return " ".join(part for part in parts if part)


class Complement(ABC):
    """What follows "be": said in both languages. Subclasses say how."""

    @abstractmethod
    def english(self) -> str:
        """Say it in English."""

    @abstractmethod
    def german(self) -> str:
        """Say it in German."""


@dataclass(frozen=True)
class Fixed(Complement):
    """A complement whose two sides are known words."""

    in_english: str
    in_german: str

    def english(self) -> str:
        """Say it in English."""
        return self.in_english

    def german(self) -> str:
        """Say it in German."""
        return self.in_german


@dataclass(frozen=True)
class Clause:
    """One abstract clause.

    ``tense`` is present, past, perfect, future or a modal of ``english.MODALS`` with an optional " past".
    In a passive clause the subject suffers and ``agent`` acts.
    """

    subject: Phrase
    verb: Verb
    tense: str = "present"
    negated: bool = False
    dative: Phrase | None = None
    accusative: Phrase | None = None
    prepositional: Prepositional | None = None
    complement: Complement | None = None
    time: Adverb | None = None
    time_first: bool = False
    manner: tuple[str, str] | None = None
    place: Prepositional | None = None
    passive: bool = False
    agent: Phrase | None = None

    def _group(self, question: bool) -> english.VerbGroup:
        person, plural = self.subject.person, self.subject.plural
        if self.passive:
            return english.passive_group(self.verb, self.tense, person, plural)
        return english.verb_group(self.verb, self.tense, person, plural, support=question or self.negated)

    def _english_objects(self) -> str:
        agent = f"by {self.agent.english(subject=False)}" if self.agent is not None else ""
        return join(
            self.complement.english() if self.complement else "",
            self.dative.english(subject=False) if self.dative else "",
            self.accusative.english(subject=False) if self.accusative else "",
            self.prepositional.english() if self.prepositional else "",
            agent,
        )

    def _english_end(self) -> str:
        time = self.time.english if self.time and not self.time.before_verb and not self.time_first else ""
        return join(self.manner[0] if self.manner else "", self.place.english() if self.place else "", time)

    def _english_middle(self, group: english.VerbGroup) -> str:
        before = self.time.english if self.time and self.time.before_verb else ""
        return join("not" if self.negated else "", before, group.rest)

    def english(self) -> str:
        """Say it as an English statement or subordinate clause."""
        group = self._group(question=False)
        front = f"{self.time.english}," if self.time and self.time_first else ""
        subject = self.subject.english(subject=True)
        return join(
            front,
            subject,
            group.auxiliary,
            self._english_middle(group),
            self._english_objects(),
            self._english_end(),
        )

    def english_question(self, word: str = "") -> str:
        """Say it as an English question, after an optional question word."""
        group = self._group(question=True)
        subject = self.subject.english(subject=True)
        return join(
            word,
            group.auxiliary,
            subject,
            self._english_middle(group),
            self._english_objects(),
            self._english_end(),
        )

    def english_gap(self, pronoun: str, gap: str) -> str:
        """Say it as an English relative clause whose ``gap`` (subject, accusative, dative) is the pronoun."""
        group = self._group(question=False)
        subject = "" if gap == "subject" else self.subject.english(subject=True)
        return join(
            pronoun,
            subject,
            group.auxiliary,
            self._english_middle(group),
            self._english_objects(),
            self._english_end(),
        )

    def english_infinitive(self) -> str:
        """Say what follows "to" in an English infinitive clause."""
        return join(self.verb.english, self._english_objects(), self._english_end())

    def _verbs(self) -> tuple[str, str]:
        """Return the finite verb and the words that close the clause."""
        person, plural = self.subject.person, self.subject.plural
        modal, _, modal_past = self.tense.partition(" ")
        if self.passive:
            return german.auxiliary("werden", person, plural, past=self.tense == "past"), self.verb.participle
        if modal in english.MODALS:
            name = english.MODALS[modal]
            return german.auxiliary(name, person, plural, past=bool(modal_past)), self.verb.full_infinitive
        if self.tense == "perfect":
            return german.auxiliary(self.verb.auxiliary, person, plural), self.verb.participle
        if self.tense == "future":
            return german.auxiliary("werden", person, plural), self.verb.full_infinitive
        return german.finite(self.verb, person, plural, past=self.tense == "past"), self.verb.prefix

    def _german_objects(self) -> tuple[str, str, bool]:
        """Return pronoun objects (which come early), other objects, and whether "kein" negates the clause."""
        early: list[str] = []
        late: list[str] = []
        negative_article = False
        if self.verb.reflexive:
            formal = isinstance(self.subject, Pronoun) and self.subject.formal
            early.append(german.reflexive(self.subject.person, self.subject.plural, formal))
        last = "dat" if self.accusative is None else "acc"
        for phrase, case in ((self.dative, "dat"), (self.accusative, "acc")):
            if phrase is None:
                continue
            if self.negated and case == last and isinstance(phrase, NounPhrase) and phrase.indefinite:
                phrase, negative_article = phrase.negated(), True
            (early if is_pronoun(phrase) else late).append(phrase.german(case))
        return join(*early), join(*late), negative_article

    def _german_middle(self) -> str:
        """Return everything between subject and closing verbs: pronouns, time, objects, "nicht", the rest."""
        early, late, negative_article = self._german_objects()
        return join(
            early,
            self.time.german if self.time and not self.time_first else "",
            late,
            "nicht" if self.negated and not negative_article else "",
            german.prepositional("von", self.agent.german("dat")) if self.agent is not None else "",
            self.manner[1] if self.manner else "",
            self.place.german() if self.place else "",
            self.prepositional.german() if self.prepositional else "",
            self.complement.german() if self.complement else "",
        )

    def _german_subject(self) -> str:
        relative = relative_of(self.subject)
        inside = f", {relative.german()}," if relative is not None else ""
        return self.subject.german("nom") + inside

    def _extraposed(self) -> str:
        """Return the relative clause of an object, which follows the closing verbs."""
        relatives = [relative_of(phrase) for phrase in (self.dative, self.accusative)]
        return "".join(f", {relative.german()}" for relative in relatives if relative is not None)

    def german(self) -> str:
        """Say it as a German statement: the finite verb comes second."""
        finite, closing = self._verbs()
        subject = self._german_subject()
        if self.time and self.time_first:
            return join(self.time.german, self._inverted(finite, closing, subject))
        return join(subject, finite, self._german_middle(), closing) + self._extraposed()

    def _inverted(self, finite: str, closing: str, subject: str) -> str:
        return join(finite, subject, self._german_middle(), closing) + self._extraposed()

    def german_inverted(self) -> str:
        """Say it with the finite verb first: in questions, and after a subordinate clause."""
        finite, closing = self._verbs()
        return self._inverted(finite, closing, self._german_subject())

    def _closed(self) -> str:
        """Return the verbs of a subordinate clause: the finite one last, joined to a separable prefix."""
        finite, closing = self._verbs()
        if closing and closing == self.verb.prefix:
            return closing + finite
        return join(closing, finite)

    def german_final(self) -> str:
        """Say it as a German subordinate clause, without the conjunction: the finite verb comes last."""
        return join(self._german_subject(), self._german_middle(), self._closed()) + self._extraposed()

    def german_gap(self, pronoun: str, gap: str) -> str:
        """Say it as a German relative clause whose ``gap`` is the pronoun."""
        subject = "" if gap == "subject" else self._german_subject()
        return join(pronoun, subject, self._german_middle(), self._closed())

    def german_infinitive(self) -> str:
        """Say it as a German infinitive clause with "zu"."""
        return join(self._german_middle(), german.with_zu(self.verb))


@dataclass(frozen=True)
class Relative:
    """A relative clause: ``clause`` lacks the phrase named by ``gap`` (subject, accusative or dative)."""

    clause: Clause
    gap: str
    animate: bool
    gender: str
    plural: bool

    def english(self) -> str:
        """Say it in English."""
        pronoun = "that" if not self.animate else "who" if self.gap == "subject" else "whom"
        return self.clause.english_gap(pronoun, self.gap)

    def german(self) -> str:
        """Say it in German."""
        case = {"subject": "nom", "accusative": "acc", "dative": "dat"}[self.gap]
        return self.clause.german_gap(german.relative_pronoun(case, self.gender, self.plural), self.gap)
