"""Rules that make sentences. An abstract clause is drawn once and said twice."""

from __future__ import annotations

import re

from ablatable.data.corpora.toy.clause_rules import PERSON, ClauseRules
from ablatable.data.corpora.toy.clauses import Clause
from ablatable.data.corpora.toy.draw import Draw
from ablatable.data.corpora.toy.phrases import WHO, YOU, NounPhrase
from ablatable.data.corpora.toy.verbs import THAT, TO, WHETHER
from ablatable.data.corpora.toy.words import NO, WHERE_BEFORE

Sentence = tuple[str, str]


def tidy(text: str, mark: str) -> str:
    """Close a sentence: commas without a space before them and never doubled, a capital, an end mark."""
    text = re.sub(r"\s+,", ",", text)
    text = re.sub(r",+", ",", text).rstrip(", ")
    return text[0].upper() + text[1:] + mark


class Grammar(ClauseRules):
    """Draws sentences."""

    def __init__(self, seed: str) -> None:
        super().__init__(Draw(seed))

    def statement(self) -> Sentence:
        """A main clause."""
        clause = self.draw.rule(
            [
                (9, lambda: self.action(deep=True)),
                (3, self.state),
                (1.6, self.passive),
                (0.8, self._no_subject),
            ]
        )
        return tidy(clause.english(), "."), tidy(clause.german(), ".")

    def _no_subject(self) -> Clause:
        noun = self.noun(PERSON)
        plural = self.draw.chance(0.3)
        return self.action(subject=NounPhrase(NO, noun, plural, self.modifiers(noun, NO)))

    def existence(self) -> Sentence:
        """The existence of something: "There is ...", "Es gibt ..." with the accusative."""
        what = self.phrase(frozenset({"person", "animal", "plant", "building", "furniture"}))
        while what.determiner.genitive or what.determiner.singular not in (None, "a"):
            what = self.phrase(frozenset({"person", "animal", "plant", "building", "furniture"}))
        place, past = self.place(), self.draw.chance(0.4)
        be = {(False, False): "is", (False, True): "are", (True, False): "was", (True, True): "were"}[past, what.plural]
        english = f"there {be} {what.english(True)} {place.english()}"
        return tidy(english, "."), tidy(f"es {'gab' if past else 'gibt'} {what.german('acc')} {place.german()}", ".")

    def question(self) -> Sentence:
        """A yes-or-no question, one for a reason, time or place, or one for a person."""
        clause = self.state(time=0.0) if self.draw.chance(0.15) else self.action(time=0.0)
        kind = self.draw.weighted([(4, "whether"), (4, "where"), (2, "who")])
        if clause.negated:
            kind = "who" if kind == "who" else "where"
        if kind == "who":
            clause = self.action(
                subject=WHO, tense=self.draw.one(("present", "past", "perfect", "can", "want")), time=0.3
            )
            while clause.time_first or clause.negated:
                clause = self.action(subject=WHO, tense="past", time=0.3)
            return tidy(clause.english(), "?"), tidy(clause.german(), "?")
        if kind == "whether":
            return tidy(clause.english_question(), "?"), tidy(clause.german_inverted(), "?")
        words = ["why", "when"] if clause.place or clause.prepositional or clause.complement else list(WHERE_BEFORE)
        word = "why" if clause.negated or clause.complement else self.draw.one(words)
        return tidy(clause.english_question(word), "?"), tidy(f"{WHERE_BEFORE[word]} {clause.german_inverted()}", "?")

    def command(self) -> Sentence:
        """A polite command."""
        clause = self.action(subject=YOU, tense="present", time=0.0, infinitive=True)
        english = f"please {clause.english_infinitive()}"
        return tidy(english, "!"), tidy(f"bitte {clause.german_inverted()}", "!")

    _CONJUNCTIONS = (
        ("because", "weil", ("present", "past", "perfect", "future", "can", "must", "want")),
        ("although", "obwohl", ("present", "past", "perfect", "can", "must")),
        ("if", "wenn", ("present", "can", "want")),
        ("while", "während", ("past",)),
        ("before", "bevor", ("past",)),
        ("as soon as", "sobald", ("present", "can")),
        ("until", "bis", ("past",)),
        ("so that", "damit", ("can",)),
    )

    def subordinate(self) -> Sentence:
        """A main clause with an adverbial clause before or after it."""
        english_word, german_word, tenses = self.draw.one(self._CONJUNCTIONS)
        tense = self.draw.one(tenses)
        main_tense = {"past": "past", "perfect": "present"}.get(tense) or self.draw.one(("present", "future", "must"))
        if english_word == "so that":
            main_tense = "present"
        main, side = self.clause(main_tense), self.clause(tense)
        while side.time_first or main.time_first:
            main, side = self.clause(main_tense), self.clause(tense)
        english_side, german_side = f"{english_word} {side.english()}", f"{german_word} {side.german_final()}"
        if english_word != "so that" and self.draw.chance(0.35):
            return tidy(f"{english_side}, {main.english()}", "."), tidy(f"{german_side}, {main.german_inverted()}", ".")
        return tidy(f"{main.english()} {english_side}", "."), tidy(f"{main.german()}, {german_side}", ".")

    def reported(self) -> Sentence:
        """Somebody says that, or asks whether."""
        verbs, english_word, german_word = self.draw.weighted(
            [(4, (THAT, "that", "dass")), (1, (WHETHER, "whether", "ob"))]
        )
        tense = self.draw.one(("present", "past"))
        inner = self.clause(self.draw.one(("past", "can past")) if tense == "past" else None)
        while inner.time_first:
            inner = self.clause(self.draw.one(("past", "can past")) if tense == "past" else None)
        outer = Clause(self.subject(PERSON), self.draw.one(verbs), tense)
        english = f"{outer.english()} {english_word} {inner.english()}"
        return tidy(english, "."), tidy(f"{outer.german()}, {german_word} {inner.german_final()}", ".")

    def infinitive(self) -> Sentence:
        """Somebody tries to do something."""
        subject = self.subject(PERSON)
        tense = self.draw.one(("present", "past", "perfect"))
        outer = Clause(subject, self.draw.one(TO), tense, time=self.time(tense, False, 0.15))
        inner = self.action(subject=subject, tense="present", time=0.0, infinitive=True)
        english = f"{outer.english()} to {inner.english_infinitive()}"
        if outer.time is not None and not outer.time.before_verb:
            outer = Clause(subject, outer.verb, tense, time=outer.time, time_first=True)
            english = f"{outer.english()} to {inner.english_infinitive()}"
        return tidy(english, "."), tidy(f"{outer.german()}, {inner.german_infinitive()}", ".")

    def purpose(self) -> Sentence:
        """Somebody does something in order to do something else."""
        subject = self.subject(PERSON)
        outer = self.action(subject=subject, tense=self.draw.one(("present", "past", "perfect", "must")), time=0.1)
        inner = self.action(subject=subject, tense="present", time=0.0, infinitive=True)
        english = f"{outer.english()} in order to {inner.english_infinitive()}"
        return tidy(english, "."), tidy(f"{outer.german()}, um {inner.german_infinitive()}", ".")

    def coordination(self) -> Sentence:
        """Two main clauses."""
        english_word, german_word = self.draw.one((("and", "und"), ("but", "aber")))
        tense = self.draw.one(("present", "past"))
        first, second = self.clause(tense), self.clause(tense)
        while second.time_first:
            second = self.clause(tense)
        english = f"{first.english()}, {english_word} {second.english()}"
        comma = "," if german_word == "aber" else ""
        return tidy(english, "."), tidy(f"{first.german()}{comma} {german_word} {second.german()}", ".")

    def sentence(self) -> Sentence:
        """Return one English sentence and its German translation."""
        english, german = self.draw.rule(
            [
                (9, self.statement),
                (0.8, self.existence),
                (2.4, self.question),
                (0.7, self.command),
                (3.4, self.subordinate),
                (2.0, self.reported),
                (1.6, self.infinitive),
                (1.0, self.purpose),
                (1.2, self.coordination),
            ]
        )
        return english.replace("can not ", "cannot "), german
