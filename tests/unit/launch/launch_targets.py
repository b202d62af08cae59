"""What the launcher's tests have run in place of a training: called by name in processes of their own."""

from __future__ import annotations

import hashlib
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

from ablatable.config.dump import to_dict
from ablatable.config.schema import Experiment
from ablatable.errors import InputError
from ablatable.launch.outcome import Queued
from ablatable.record import stamp
from ablatable.record.events import EventWriter
from ablatable.record.job import Job
from ablatable.record.schema import Hardware, Labels, Record, Stamp
from ablatable.record.store import Store


def make_queued(runs: Path, row: str, cost: float = 1.0, seed: int = 1) -> Queued:
    """A job whose row says how it behaves."""
    id = hashlib.sha256(f"{row} {seed}".encode()).hexdigest()[:16]
    experiment = Experiment(seed=seed)
    job = Job(experiment, id, Labels("demo", row, "cpu"), runs / id, runs.parent / "cache")
    return Queued(job, cost)


def behave(job: Job) -> None:
    """Do what the row's name says, holding the run's lock as a training does."""
    store = Store(job.folder.parent)
    with store.lock(job.id), EventWriter(job.folder / "events.jsonl") as events:
        events.write("start")
        (job.folder / "pids").open("a").write(f"{os.getpid()}\n")
        print("out", job.labels.row)
        row = job.labels.row or ""
        match row.split("-"):
            case ["sleep", seconds]:
                time.sleep(float(seconds))
            case ["signal", number]:
                os.kill(os.getpid(), int(number))
            case ["exit", code]:
                sys.exit(int(code))
            case ["raise"]:
                raise ValueError("a fault in the training")
            case ["input"]:
                raise InputError("data.corpus=nothing: no such corpus")
            case ["norecord"]:
                return
            case ["diverge"]:
                store.write_record(make_record(job, "failed", "the loss is nan at update 3"))
                return
            case ["once"]:
                _die_the_first_time(job)
            case ["stubborn"]:
                signal.signal(signal.SIGTERM, signal.SIG_IGN)
                time.sleep(60)
            case ["spin"]:
                _hold_the_interpreter()
            case ["family"]:
                subprocess.Popen(["sleep", "300"])
                time.sleep(300)
            case ["crashfamily"]:
                print("grandchild", subprocess.Popen(["sleep", "300"]).pid, flush=True)
                os.kill(os.getpid(), signal.SIGSEGV)
            case ["environment"]:
                print("CUDA", os.environ.get("CUDA_VISIBLE_DEVICES"), "OMP", os.environ["OMP_NUM_THREADS"])
            case _:
                pass
        store.write_record(make_record(job))


def _die_the_first_time(job: Job) -> None:
    mark = job.folder / "died"
    if not mark.exists():
        mark.touch()
        os.kill(os.getpid(), signal.SIGKILL)


def _hold_the_interpreter() -> None:
    """Never let another Python thread run: only the kernel can end this process."""
    sys.setswitchinterval(1e6)
    while True:
        pass


def refuse(message: str) -> None:
    """Fail as bad input does."""
    raise InputError(message)


def write(path: Path, text: str) -> None:
    """Write a file; print on stdout, which must not reach the caller's."""
    print("noise")
    path.write_text(f"{text} torch={'torch' in sys.modules}")


def nap(seconds: float) -> None:
    """Sleep."""
    time.sleep(seconds)


def make_record(job: Job, status: str = "completed", cause: str | None = None) -> Record:
    """A whole record with made-up numbers."""
    hardware = Hardware("cpu", 2, 1, [])
    now = f"{time.time_ns()}"
    command = " ".join(sys.argv)
    stamp = Stamp(None, None, "0", {}, "3", "linux", hardware, 1, 1, "c", "f", "t", None, True, command, now, now)
    return Record(
        id=job.id,
        labels=job.labels,
        seed=job.experiment.seed,
        config=to_dict(job.experiment),
        status=status,  # pyright: ignore[reportArgumentType]
        cause=cause,
        metrics={},
        curve=[],
        parameters=1,
        source_tokens=1,
        target_tokens=1,
        updates=1,
        flops=1.0,
        wall_seconds=1.0,
        device_seconds=1.0,
        peak_memory_bytes=1,
        stamp=stamp,
    )


def pids(queued: Queued) -> list[int]:
    """Processes that ever ran the job."""
    path = queued.job.folder / "pids"
    return [int(line) for line in path.read_text().split()] if path.exists() else []


RUNNER = """
import sys
from pathlib import Path
sys.path.insert(0, {tests!r})
from launch_targets import make_queued
from ablatable.launch.local import run_jobs
from ablatable.launch.progress import Silent
from ablatable.launch.slots import Slot
if __name__ == "__main__":
    runs = Path(sys.argv[1])
    queued = [make_queued(runs, row) for row in sys.argv[3:]]
    outcome = run_jobs(queued, [Slot(i) for i in range(int(sys.argv[2]))], Silent(),
                       target="launch_targets:behave", preload=["ablatable.launch.warm", "launch_targets"])
    assert "torch" not in sys.modules
    print([(e.queued.job.labels.row, e.state) for e in outcome.ended], flush=True)
    sys.exit(outcome.exit_code)
"""
"""A runner to be killed: arguments are the runs folder, the number of slots and the rows."""


def tell_code_noted(path: Path) -> None:
    """How many answers about the code the process found ready when it was forked."""
    noted = (stamp.code_digest.cache_info().currsize, stamp.git_state.cache_info().currsize)
    path.write_text(f"{noted[0]} {noted[1]}")
