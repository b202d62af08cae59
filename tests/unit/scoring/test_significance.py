"""Paired tests against sacreBLEU's own (BLEU-12), and what must hold of any of them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sacrebleu.metrics.bleu import BLEU
from sacrebleu.metrics.chrf import CHRF
from sacrebleu.significance import PairedTest

from ablatable.errors import InputError
from ablatable.scoring.bleu import bleu
from ablatable.scoring.chrf import chrf
from ablatable.scoring.significance import approximate_randomisation, paired_bootstrap
from ablatable.scoring.statistics import MEASURES, bleu_of, character_counts, chrf_of, sentence_counts

WORDS = [
    "the",
    "a",
    "dog",
    "cat",
    "man",
    "house",
    "sees",
    "bites",
    "old",
    "red",
    "in",
    "under",
    "often",
    "never",
    ".",
]


def damaged(lines: list[str], rate: float, seed: int) -> list[str]:
    """Replace so many of the words by others."""
    rng = np.random.default_rng(seed)
    return [
        " ".join(str(rng.choice(WORDS)) if rng.random() < rate else word for word in line.split()) for line in lines
    ]


@pytest.fixture(scope="module")
def references() -> list[str]:
    rng = np.random.default_rng(5)
    return [" ".join(rng.choice(WORDS, size=rng.integers(4, 15))) for _ in range(20)]


@pytest.fixture(scope="module")
def systems(references) -> tuple[list[str], list[str]]:
    return damaged(references, 0.3, 1), damaged(references, 0.2, 2)


lines = st.lists(st.tuples(*[st.lists(st.sampled_from(WORDS), max_size=9).map(" ".join)] * 2), min_size=1, max_size=6)


@given(lines)
def test_counts_give_the_bleu_of_sacrebleu(pairs):
    hypotheses, references = [h for h, _ in pairs], [r for _, r in pairs]
    counts = sentence_counts(hypotheses, references)
    assert counts.shape == (len(pairs), 10)
    assert float(bleu_of(counts.sum(axis=0))) == pytest.approx(bleu(hypotheses, references).value, abs=1e-9)


characters = st.lists(st.tuples(*[st.text("ab .é", max_size=9)] * 2), min_size=1, max_size=5)


@given(characters)
def test_counts_of_characters_give_the_chrf_of_sacrebleu(pairs):
    hypotheses, references = [h for h, _ in pairs], [r for _, r in pairs]
    counts = character_counts(hypotheses, references)
    assert counts.shape == (len(pairs), 18)
    assert float(chrf_of(counts.sum(axis=0))) == pytest.approx(chrf(hypotheses, references).value, abs=1e-9)
    alone = [CHRF().sentence_score(hypothesis, [reference]).score for hypothesis, reference in pairs]
    assert chrf_of(counts) == pytest.approx(alone, abs=1e-9)


def test_counts_of_characters_by_hand():
    """ "ab ab" has a a b b / ab ba ab / aba bab / abab, "aba" has a a b / ab ba / aba."""
    counts = character_counts(["ab ab"], ["aba"])
    assert counts[0].tolist() == [4, 3, 3, 3, 2, 2, 2, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0]
    precision, recall = (3 / 4 + 2 / 3 + 1 / 2) / 3, 1.0
    assert float(chrf_of(counts[0])) == pytest.approx(100 * 5 * precision * recall / (4 * precision + recall))


def oracle(test_type: str, systems, references, samples: int, seed: int, monkeypatch, measure="bleu"):
    monkeypatch.setenv("SACREBLEU_SEED", str(seed))
    named = [("a", systems[0]), ("b", systems[1])]
    name, metric = {"bleu": ("BLEU", BLEU(force=True)), "chrf": ("chrF2", CHRF())}[measure]
    signatures, scores = PairedTest(named, {name: metric}, [references], test_type=test_type, n_samples=samples)()
    return scores[name][1], str(next(iter(signatures.values())))


@pytest.mark.parametrize("measure", MEASURES)
@pytest.mark.parametrize("seed", [12345, 1])
def test_bleu_12_bootstrap_is_sacrebleus(systems, references, seed, measure, monkeypatch):
    found = paired_bootstrap(*systems, references, samples=200, seed=seed, measure=measure)
    expected, signature = oracle("bs", systems, references, 200, seed, monkeypatch, measure)
    assert found.p_value == pytest.approx(expected.p_value)
    assert found.score_b == pytest.approx(expected.score, abs=1e-6)
    assert f"bs:200|seed:{seed}" in found.signature
    assert set(signature.split("|")) == set(found.signature.split("|"))


@pytest.mark.parametrize("measure", MEASURES)
@pytest.mark.parametrize("seed", [12345, 1])
def test_bleu_12_randomisation_is_sacrebleus(systems, references, seed, measure, monkeypatch):
    found = approximate_randomisation(*systems, references, samples=700, seed=seed, measure=measure)
    expected, _ = oracle("ar", systems, references, 700, seed, monkeypatch, measure)
    assert found.p_value == pytest.approx(expected.p_value)
    assert f"ar:700|seed:{seed}" in found.signature


@pytest.mark.parametrize("test", [paired_bootstrap, approximate_randomisation])
def test_bleu_12_equal_seeds_give_equal_results(systems, references, test):
    again = [test(*systems, references, samples=200, seed=seed) for seed in (12345, 12345, 1)]
    assert again[0] == again[1]
    assert again[0] != again[2]
    assert again[0].seed == 12345
    assert again[0].samples == 200


def test_bleu_12_another_seed_draws_other_samples(systems, references):
    first, second = (paired_bootstrap(*systems, references, samples=200, seed=seed) for seed in (12345, 1))
    assert (first.low, first.high) != (second.low, second.high)


@pytest.mark.parametrize("test", [paired_bootstrap, approximate_randomisation])
def test_bleu_12_smallest_p(references, test):
    """A perfect system against a poor one: no sample strays so far, and p is still not 0."""
    found = test(damaged(references, 0.9, 3), references, references, samples=199)
    assert found.p_value == 1 / 200
    assert found.difference > 50


@pytest.mark.parametrize("measure", MEASURES)
@pytest.mark.parametrize("test", [paired_bootstrap, approximate_randomisation])
def test_a_system_does_not_differ_from_itself(systems, references, test, measure):
    found = test(systems[0], systems[0], references, samples=300, measure=measure)
    assert found.difference == 0.0
    assert found.p_value == 1.0


@pytest.mark.parametrize("test", [paired_bootstrap, approximate_randomisation])
def test_swapping_the_systems_turns_the_sign(systems, references, test):
    forth, back = test(*systems, references, samples=300), test(*systems[::-1], references, samples=300)
    assert forth.difference == pytest.approx(-back.difference)
    assert forth.p_value == pytest.approx(back.p_value)


def test_the_interval_holds_the_difference(systems, references):
    found = paired_bootstrap(*systems, references)
    assert found.low is not None
    assert found.high is not None
    assert found.low < found.difference < found.high


@pytest.mark.parametrize("test", [paired_bootstrap, approximate_randomisation])
def test_bleu_03_systems_of_another_length_are_refused(systems, references, test):
    with pytest.raises(InputError, match="19 hypotheses for 20 references"):
        test(systems[0], systems[1][:-1], references)


def test_the_bootstraps_p_is_about_half_of_the_randomisations(references):
    """SacreBLEU's definition is one-sided in effect: who prints both must say so."""
    systems = damaged(references * 5, 0.3, 1), damaged(references * 5, 0.27, 2)
    one_sided = paired_bootstrap(*systems, references * 5, samples=5000, measure="chrf").p_value
    two_sided = approximate_randomisation(*systems, references * 5, samples=5000, measure="chrf").p_value
    assert 0.3 < one_sided / two_sided < 0.75
