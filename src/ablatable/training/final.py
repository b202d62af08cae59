"""What is measured when training has ended: NLL of the split, free-running translations, their scores."""

from __future__ import annotations

import time
from typing import Literal

import torch

from ablatable.config.schema import Experiment
from ablatable.data.dataset import Dataset
from ablatable.data.packed import PackedPairs
from ablatable.decoding.translate import Progress, one_line, translate
from ablatable.nn.network import AnyNetwork
from ablatable.record.events import EventWriter
from ablatable.record.files import write_atomic
from ablatable.record.job import Job
from ablatable.record.schema import Metric
from ablatable.scoring.buckets import Indices, chosen, members
from ablatable.scoring.perplexity import FUTURE_VISIBLE, bits_per_character, mean_nll, perplexity
from ablatable.scoring.score import score
from ablatable.training.evaluate import SplitSums, split_sums

_REPORT_SECONDS = 2.0


def evaluate_split(job: Job, dataset: Dataset, model: AnyNetwork, split: Literal["valid", "test"]) -> dict[str, Metric]:
    """Metrics of one split by name, such as ``valid.bleu``; the translations go to ``hypotheses.<split>.txt``.

    NLL, perplexity and bits per character are over the whole split and unsmoothed, unknown rates over the whole split
    too; ``evaluate.sentences`` limits what is translated. Length buckets add ``valid.bleu.longer`` and the like.
    """
    experiment = job.experiment
    sums = _sums(experiment, model, dataset.packed(split))
    hypotheses = _translations(job, dataset, model, split)
    write_atomic(job.folder / f"hypotheses.{split}.txt", "".join(f"{line}\n" for line in hypotheses))
    references = dataset.references(split)
    scores = score(hypotheses, references[: experiment.evaluate.sentences], dataset.corpus.target)
    unknown_source, unknown_target = dataset.unknown_rates(split)
    found = {
        **_likelihood(experiment, sums),
        "bpc": Metric(bits_per_character(sums.nll, references), "bits/character", _leak(experiment)),
        "oov_source": Metric(unknown_source, "fraction"),
        "oov_target": Metric(unknown_target, "fraction"),
        **scores,
        **_by_length(job, dataset, model, split, hypotheses),
    }
    return {f"{split}.{name}": metric for name, metric in found.items()}


def _likelihood(experiment: Experiment, sums: SplitSums) -> dict[str, Metric]:
    leak = _leak(experiment)
    return {
        "nll": Metric(mean_nll(sums.nll, sums.tokens), "nats/token", leak),
        "ppl": Metric(perplexity(sums.nll, sums.tokens), "perplexity/token", leak),
    }


def _leak(experiment: Experiment) -> str | None:
    return None if experiment.model.causal else FUTURE_VISIBLE


def _by_length(
    job: Job, dataset: Dataset, model: AnyNetwork, split: Literal["valid", "test"], hypotheses: list[str]
) -> dict[str, Metric]:
    """What `evaluate.length_buckets` asks for: ``bleu.longer`` and the like, and how many translations they are of.

    Each bucket's NLL and tokens are summed anew, so that none is a difference of others. A bucket nothing falls into
    has its count, 0, and no score.
    """
    experiment, pairs, references = job.experiment, dataset.packed(split), dataset.references(split)
    found: dict[str, Metric] = {}
    for bucket, indices in members(experiment.evaluate, pairs.source_lengths, pairs.target_lengths).items():
        ours, theirs = chosen(hypotheses, indices), chosen(references[: len(hypotheses)], indices)
        found[f"sentences.{bucket}"] = Metric(float(len(ours)), "sentences")
        scores: dict[str, Metric] = {}
        if len(indices):
            scores |= _likelihood(experiment, _sums(experiment, model, pairs, indices))
        if ours:
            scores |= score(ours, theirs, dataset.corpus.target)
        found |= {f"{name}.{bucket}": metric for name, metric in scores.items()}
    return found


def _sums(experiment: Experiment, model: AnyNetwork, pairs: PackedPairs, only: Indices | None = None) -> SplitSums:
    device = model.output_weight.device
    with torch.autocast(device.type, torch.bfloat16, enabled=experiment.train.precision == "bf16"):
        return split_sums(model, pairs, device, only=only)


def vocabulary_sizes(dataset: Dataset) -> dict[str, Metric]:
    """The sizes the vocabularies have, which may be below ``tokenizer.size`` where the text has fewer words."""
    return {
        "source_vocabulary": Metric(float(dataset.source_tokenizer.size), "pieces"),
        "target_vocabulary": Metric(float(dataset.target_tokenizer.size), "pieces"),
    }


def _translations(job: Job, dataset: Dataset, model: AnyNetwork, split: Literal["valid", "test"]) -> list[str]:
    experiment = job.experiment
    pairs = dataset.packed(split)
    chosen = range(min(len(pairs), experiment.evaluate.sentences or len(pairs)))
    with EventWriter(job.folder / "events.jsonl") as events:
        found = translate(
            model,
            [pairs.source(index) for index in chosen],
            experiment.decode,
            _reporter(events),
            experiment.train.precision,
        )
    return [one_line(hypothesis, dataset.target_tokenizer) for hypothesis in found]


def _reporter(events: EventWriter) -> Progress:
    last = 0.0

    def report(done: int, total: int) -> None:
        nonlocal last
        if time.monotonic() - last >= _REPORT_SECONDS or done == total:
            last = time.monotonic()
            events.write("decode", done=done, total=total)

    return report
