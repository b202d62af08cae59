"""A runs folder with what a test writes down in it: finished, failed, going, stopped and damaged runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from table_bench import STAMP

from ablatable.config.data import Data
from ablatable.config.dump import to_dict, to_yaml
from ablatable.config.layers import build, from_overrides
from ablatable.config.schema import Experiment
from ablatable.data.corpora import Corpus, get
from ablatable.record.events import EventWriter
from ablatable.record.schema import CurvePoint, Labels, Metric, Record
from ablatable.record.store import encode_record
from ablatable.scoring.score import score

CORPUS = "synthetic-copy"
SENTENCES = 12


class Shelf:
    """Runs under ``root``, scored on the first sentences of a corpus in ``cache``."""

    def __init__(self, root: Path, cache: Path, sentences: int = SENTENCES) -> None:
        self.root = root
        self.sentences = sentences
        self.corpus: Corpus = get(Data(corpus=CORPUS), cache, say=lambda message: None)
        self.references = self.corpus.lines("valid", "target")[:sentences]

    def experiment(self, *words: str) -> Experiment:
        """The base on the corpus, with overrides."""
        given = {word.split("=", 1)[0] for word in words}
        own = {"data.corpus": CORPUS, "evaluate.sentences": self.sentences}
        defaults = [f"{path}={value}" for path, value in own.items() if path not in given]
        return build([from_overrides([*defaults, *words])])

    def run(
        self,
        id: str,
        *words: str,
        hypotheses: Sequence[str] | None = None,
        labels: Labels | None = None,
        metrics: Mapping[str, float] | None = None,
        curve: Sequence[tuple[int, float | None]] = (),
        stamp: Mapping[str, Any] | None = None,
        **record: Any,
    ) -> Record:
        """A run with a record. Translations are written and scored; ``metrics`` come over the scores."""
        experiment = self.experiment(*words)
        scores = {} if hypotheses is None else score(hypotheses, self.references, self.corpus.target)
        found = {f"valid.{name}": metric for name, metric in scores.items()}
        found |= {name: Metric(value, "") for name, value in (metrics or {}).items()}
        stamped = replace(STAMP, corpus=CORPUS, corpus_fingerprint=self.corpus.fingerprint)
        made = Record(
            id=id,
            labels=labels or Labels(),
            seed=experiment.seed,
            config=to_dict(experiment),
            **{
                "status": "completed",
                "cause": None,
                "metrics": found,
                "curve": [CurvePoint(update, nll, None, float(update), update, 2 * update) for update, nll in curve],
                "parameters": 1000,
                "source_tokens": 10,
                "target_tokens": 20,
                "updates": 100,
                "flops": 1e9,
                "wall_seconds": 1.0,
                "device_seconds": 1.0,
                "peak_memory_bytes": 2**20,
                "stamp": replace(stamped, **(stamp or {})),
                **record,
            },
        )
        folder = self.root / id
        folder.mkdir(parents=True)
        (folder / "record.json").write_text(encode_record(made), encoding="utf-8")
        if hypotheses is not None:
            (folder / "hypotheses.valid.txt").write_text("".join(f"{line}\n" for line in hypotheses), encoding="utf-8")
        return made

    def begun(self, id: str, *words: str, update: int = 40) -> Path:
        """A run that has no record: stopped, or going for as long as its lock is held."""
        folder = self.root / id
        folder.mkdir(parents=True)
        (folder / "config.yaml").write_text(to_yaml(self.experiment(*words)), encoding="utf-8")
        with EventWriter(folder / "events.jsonl") as events:
            events.write("start", updates=100)
            events.write("train", update=update, updates=100, loss=1.0)
        return folder


def worse(lines: Sequence[str], every: int) -> list[str]:
    """Each so many lines lose their second half."""
    return [line[: len(line) // 2] if i % every == 0 else line for i, line in enumerate(lines)]
