"""The BLEU cases: values of sacreBLEU 2.6.0, and the ways a harness goes wrong around it."""

from __future__ import annotations

import pytest
import sacrebleu
from sacrebleu.metrics.bleu import BLEU

from ablatable.errors import InputError
from ablatable.scoring.bleu import bleu, bleu_paper, bleu_signature, split_compounds
from ablatable.scoring.chrf import chrf
from ablatable.scoring.moses import moses_tokenizer
from ablatable.scoring.score import score

HYPOTHESES = ["The dog bit the man.", "It wasn't surprising.", "The man had just bitten him."]
REFERENCES = ["The dog bit the man.", "It was not unexpected.", "The man bit him first."]


def test_bleu_01_value_unit_and_signature():
    found = bleu(HYPOTHESES, REFERENCES)
    assert found.value == pytest.approx(45.0675063211, abs=1e-8)
    assert found.unit == "BLEU"
    assert found.signature is not None
    assert found.signature.startswith("nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp|version:")
    assert bleu_signature() == found.signature


def test_bleu_02_empty_hypotheses_count():
    assert bleu(["", "", ""], REFERENCES).value == 0.0
    one_empty = [HYPOTHESES[0], "", HYPOTHESES[2]]
    assert bleu(one_empty, REFERENCES).value == pytest.approx(39.09, abs=0.005)
    assert bleu_paper(["", "", ""], REFERENCES, "en").value == 0.0
    assert bleu_paper(one_empty, REFERENCES, "en").value < bleu_paper(HYPOTHESES, REFERENCES, "en").value
    assert chrf(["", "", ""], REFERENCES).value == 0.0


@pytest.mark.parametrize("measure", [bleu, chrf, lambda h, r: bleu_paper(h, r, "en"), lambda h, r: score(h, r, "en")])
@pytest.mark.parametrize(("hypotheses", "references"), [(3, 2), (2, 3)])
def test_bleu_03_unequal_counts_are_refused_and_named(measure, hypotheses, references):
    with pytest.raises(InputError, match=f"{hypotheses} hypotheses for {references} references"):
        measure(HYPOTHESES[:hypotheses], REFERENCES[:references])


def test_bleu_03_nothing_to_score_is_refused():
    with pytest.raises(InputError, match="nothing to score"):
        bleu([], [])


def test_bleu_04_one_stream_of_references():
    hypotheses = ["the cat sat on the mat", "a b c d e f"]
    references = ["the cat sat on the mat", "x y z w v u"]
    assert bleu(hypotheses, references).value == pytest.approx(50.0)
    with pytest.raises(InputError, match="reference 1 is a list"):
        bleu(hypotheses, [[line] for line in references])  # pyright: ignore[reportArgumentType] - the fault tested


def test_bleu_05_short_corpora_and_identity():
    assert bleu(["a b c"], ["a b c"]).value == 0.0
    assert bleu(["a b c d e"], ["a b c d e"]).value == pytest.approx(100.0, abs=1e-9)
    assert bleu(["yes"], ["no"]).value == 0.0


def test_bleu_06_escapes_cost_points_and_the_paper_protocol_adds_none():
    assert bleu(["I can't see the dog."], ["I can't see the dog."]).value == pytest.approx(100.0)
    assert bleu(["I can &apos;t see the dog ."], ["I can't see the dog."]).value == pytest.approx(27.776, abs=1e-3)
    assert "&" not in moses_tokenizer("en").tokenize('I can\'t see "it" [x] | <b>').replace("& ", "")
    spaced = bleu(["Das ist gut , nicht wahr ?"], ["Das ist gut, nicht wahr?"])
    assert spaced.value == pytest.approx(100.0)


def test_bleu_08_compounds_are_split_in_the_papers_protocol_only():
    hypothesis = ["Der Science-Fiction-Autor schrieb ein neues Buch"]
    reference = ["Der Science-Fiction-Film zeigt ein neues Buch"]
    assert bleu(hypothesis, reference).value == pytest.approx(32.4668, abs=1e-4)
    assert bleu_paper(hypothesis, reference, "de").value == pytest.approx(52.5382, abs=1e-4)
    signature = bleu_paper(hypothesis, reference, "de").signature
    assert signature is not None
    assert signature.startswith("protocol:paper|nrefs:1|case:mixed|tok:moses-de|compounds:split|smooth:none|")


@pytest.mark.parametrize(
    ("tokens", "split"),
    [
        ("a-b", "a ##AT##-##AT## b"),
        ("rich-text format", "rich ##AT##-##AT## text format"),
        ("Science-Fiction-Autor", "Science ##AT##-##AT## Fiction ##AT##-##AT## Autor"),
        ("a - b", "a - b"),
        ("-a b-", "-a b-"),
        ("a-b-c", "a ##AT##-##AT## b-c"),
    ],
)
def test_compound_split(tokens, split):
    assert split_compounds(tokens) == split


def test_papers_protocol_is_multi_bleu():
    """Case counts, nothing is smoothed, and tokens are those of Moses: no 4-gram matched is 0."""
    assert bleu_paper(["Das Haus ist sehr schön ."], ["Das Haus ist ganz schön ."], "de").value == 0.0
    assert bleu(["Das Haus ist sehr schön ."], ["Das Haus ist ganz schön ."]).value > 0.0
    upper = bleu_paper(["DAS HAUS IST SEHR SCHÖN."], ["Das Haus ist sehr schön."], "de")
    assert upper.value == 0.0
    hypothesis, reference = "Er sagt: „Ja“ (z.B. 5,3%), oder?", "Er sagt: „Ja“ (z.B. 5,4%), oder?"
    tokens = moses_tokenizer("de").tokenize
    expected = BLEU(tokenize="none", smooth_method="none", force=True).corpus_score(
        [tokens(hypothesis)], [[tokens(reference)]]
    )
    assert bleu_paper([hypothesis], [reference], "de").value == pytest.approx(expected.score)
    assert 0 < expected.score < 100


@pytest.mark.parametrize(
    ("language", "line", "tokens"),
    [
        ("de", "Das kostet z.B. 5,300 Euro.", "Das kostet z.B. 5,300 Euro ."),
        ("fr", "L'homme n'est pas là.", "L' homme n' est pas là ."),
        ("en", "I can't see & hear <it>.", "I can 't see & hear < it > ."),
    ],
)
def test_moses_knows_the_language(language, line, tokens):
    assert moses_tokenizer(language).tokenize(line) == tokens


@pytest.mark.parametrize("language", ["xx", "", "synthetic"])
def test_unknown_languages_use_english_rules_and_say_so(language):
    found = bleu_paper(HYPOTHESES, REFERENCES, language)
    assert found.value == bleu_paper(HYPOTHESES, REFERENCES, "en").value
    assert found.signature is not None
    assert "|tok:moses-en|" in found.signature


def test_every_score_of_a_set():
    found = score(HYPOTHESES, REFERENCES, "en")
    assert list(found) == ["bleu", "bleu_paper", "chrf"]
    assert [metric.unit for metric in found.values()] == ["BLEU", "BLEU", "chrF"]
    assert all(metric.signature for metric in found.values())
    assert found["bleu"] == bleu(HYPOTHESES, REFERENCES)
    assert found["chrf"].value == pytest.approx(chrf(HYPOTHESES, REFERENCES).value)
    assert chrf(REFERENCES, REFERENCES).value == pytest.approx(100.0)


def test_bleu_07_pieces_would_inflate_the_score():
    """A score is taken of text whose pieces were joined; of pieces it would be 41.11."""
    hypothesis, reference = "th@@ e ca@@ t s@@ at h@@ ere", "th@@ e ca@@ t r@@ an h@@ ere"
    of_pieces = sacrebleu.corpus_bleu([hypothesis], [[reference]], tokenize="none").score
    joined = [text.replace("@@ ", "") for text in (hypothesis, reference)]
    of_words = sacrebleu.corpus_bleu(joined[:1], [joined[1:]], tokenize="none").score
    assert (of_pieces, of_words) == (pytest.approx(41.11, abs=0.005), pytest.approx(35.36, abs=0.005))
    assert bleu(joined[:1], joined[1:]).value == pytest.approx(of_words, abs=0.005)
