"""Corpus BLEU, two ways that are never mixed: sacreBLEU's own, and the paper's protocol.

Both take detokenised, free-running translations and untouched references, one reference per sentence. The
signature beside a value says which it is and how it was computed.
"""

from __future__ import annotations

import importlib.metadata
import re
from collections.abc import Sequence

from sacrebleu.metrics.bleu import BLEU

from ablatable.record.schema import Metric
from ablatable.scoring.moses import moses_tokenizer
from ablatable.scoring.pairs import check_pairs

UNIT = "BLEU"

_COMPOUND = re.compile(r"(\S)-(\S)")


def bleu(hypotheses: Sequence[str], references: Sequence[str]) -> Metric:
    """SacreBLEU with its defaults: mteval 13a tokens, case kept, exponential smoothing (Post 2018).

    Raises:
        InputError: hypotheses and references do not pair.
    """
    check_pairs(hypotheses, references)
    metric = sacrebleu_13a()
    value = metric.corpus_score(hypotheses, [references]).score
    return Metric(value, UNIT, str(metric.get_signature()))


def sacrebleu_13a() -> BLEU:
    """The configuration behind ``bleu``; ``force`` only silences a guess about tokenised input."""
    return BLEU(tokenize="13a", smooth_method="exp", force=True)


def sentence_bleu(hypothesis: str, reference: str) -> float:
    """BLEU of one sentence, 0 to 100, over the n-gram orders it is long enough for (sacreBLEU's effective order).

    It ranks sentences; a corpus is never scored by averaging it.
    """
    metric = BLEU(tokenize="13a", smooth_method="exp", effective_order=True)
    return metric.sentence_score(hypothesis, [reference]).score


def bleu_signature() -> str:
    """Return the signature of ``bleu``; sacreBLEU tells it only once it has scored something."""
    return str(bleu([""], [""]).signature)


def bleu_paper(hypotheses: Sequence[str], references: Sequence[str], language: str) -> Metric:
    """BLEU as the paper and its time computed it (tokenised, compounds split; facts: ``bleu_protocol``).

    Moses tokens of both sides by the rules of the target ``language`` (ISO code; English rules where Moses
    has none), hyphenated compounds split, then multi-bleu: case kept, no smoothing. Usually the higher where
    text has hyphens.

    Raises:
        InputError: hypotheses and references do not pair.
    """
    check_pairs(hypotheses, references)
    tokenizer = moses_tokenizer(language)

    def prepare(lines: Sequence[str]) -> list[str]:
        return [split_compounds(tokenizer.tokenize(line)) for line in lines]

    metric = BLEU(tokenize="none", smooth_method="none", force=True)
    value = metric.corpus_score(prepare(hypotheses), [prepare(references)]).score
    signature = "|".join(
        (
            "protocol:paper",
            "nrefs:1",
            "case:mixed",
            f"tok:moses-{tokenizer.rules}",
            "compounds:split",
            "smooth:none",
            f"sacremoses:{importlib.metadata.version('sacremoses')}",
            f"sacrebleu:{importlib.metadata.version('sacrebleu')}",
        )
    )
    return Metric(value, UNIT, signature)


def split_compounds(tokens: str) -> str:
    """``a-b`` becomes ``a ##AT##-##AT## b``, wherever a hyphen stands between two characters of a token.

    Matches do not overlap, as in the script of the time: the second hyphen of ``a-b-c`` stays, since its left
    neighbour is spent.
    """
    return _COMPOUND.sub(r"\1 ##AT##-##AT## \2", tokens)
