"""Whole runs whose decoder sees the future, or no source: trained, translated and scored, and marked where it leaks."""

import pytest
from tiny_runs import Run

from ablatable.scoring.perplexity import FUTURE_VISIBLE


@pytest.mark.parametrize(
    ("words", "signature"),
    [
        (["model.causal=false", "model.window=3", "model.dropout_attention=0.1"], FUTURE_VISIBLE),
        (["model.cross_attention=false", "model.score=additive"], None),
    ],
    ids=["future", "no source"],
)
def test_a_likelihood_that_saw_the_future_says_so(run: Run, words: list[str], signature: str | None) -> None:
    record, folder = run(*words)
    assert record.status == "completed"
    likelihood = {f"valid.{name}" for name in ("nll", "ppl", "bpc")}
    assert {record.metrics[name].signature for name in likelihood} == {signature}
    assert record.metrics["valid.chrf"].signature != FUTURE_VISIBLE
    assert (folder / "hypotheses.valid.txt").read_text()
