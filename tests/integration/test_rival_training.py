"""Rivals through data, training, resuming, search, scoring and record, unchanged."""

import math
import subprocess
import sys
from pathlib import Path

import pytest

from ablatable.config.identity import run_id
from ablatable.config.load import load_experiment
from ablatable.data.dataset import prepare
from ablatable.nn.count import parameter_count
from ablatable.record.events import read_events
from ablatable.record.job import Job
from ablatable.record.schema import Labels
from ablatable.record.store import Store
from ablatable.training.load import load_run
from ablatable.training.run import execute

TINY = [
    "data.corpus=synthetic-copy",
    "data.train_pairs=600",
    "data.max_length=60",
    "tokenizer.size=48",
    "model.layers=2",
    "model.d_model=32",
    "train.updates=30",
    "train.batch_tokens=256",
    "train.warmup=20",
    "train.validate_every=15",
    "evaluate.sentences=8",
    "decode.beam=2",
    "tracking.wandb=off",
]
RIVALS = {
    "rnn": [],
    "rnn-gru-without-attention": ["model.rnn_cell=gru", "model.rnn_attention=none"],
    "convolutional": [],
    "convolutional-learned": ["model.position=learned", "model.kernel_size=5"],
    "bag": [],
    "bag-concatenated": ["model.bag=concatenate"],
}


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One cache for the module: the corpus, its tokenizer and its arrays are made once."""
    return tmp_path_factory.mktemp("cache")


@pytest.mark.parametrize("name", RIVALS)
def test_a_rival_trains_translates_and_is_recorded(name: str, cache: Path, tmp_path: Path) -> None:
    experiment = load_experiment(name.split("-", maxsplit=1)[0], [*TINY, *RIVALS[name]])
    id = run_id(experiment, prepare(experiment, cache).corpus.fingerprint)
    folder = tmp_path / id
    record = execute(Job(experiment, id, Labels(None, None, None), folder, cache))
    assert record.status == "completed"
    first, last = record.curve[0], record.curve[-1]
    assert math.isfinite(record.metrics["valid.nll"].value)
    assert (last.train_nll or math.inf) < (first.train_nll or 0) < 20
    loaded = load_run(folder, cache)
    assert record.parameters == sum(parameter.numel() for parameter in loaded.model.parameters())
    assert record.parameters == parameter_count(experiment.model, 48, 48)
    assert record.flops > 0
    assert len((folder / "hypotheses.valid.txt").read_text().splitlines()) == 8


@pytest.mark.slow
@pytest.mark.parametrize("name", ["rnn", "convolutional", "bag"])
def test_the_command_trains_each_experiment(name: str, tmp_path: Path) -> None:
    command = [sys.executable, "-c", "from ablatable.cli.main import main; main()", "train", name, *TINY]
    done = subprocess.run(command, cwd=Path(__file__).parents[2], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    (record,) = Store(tmp_path / "runs").records()
    assert record.status == "completed"
    assert record.config["model"]["architecture"] == name
    start = read_events(tmp_path / "runs" / record.id / "events.jsonl")[0]
    assert "data.corpus" in start["changed"], "what the command line chose is what a tracker tags"
    assert not {"tracking.wandb", "seed"} & set(start["changed"])
