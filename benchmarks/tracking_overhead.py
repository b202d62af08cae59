"""What W&B offline adds to a run, against the same run untracked, in turns.

Each run is a process of its own, out of one warm server as under ``ablatable run``, so that the client is imported once
for all. Wall time and the processor time of the run with all its descendants (W&B's client is one) are compared; on a
machine with other work only the latter means much. The cost is one of start and end, and hardly grows with the run, so
``--scale demo-toy`` or a lower ``--updates`` shows a larger share than a whole run has.

Run: ``python benchmarks/tracking_overhead.py`` (the demo's base row at scale demo, three times each: 20 minutes).
"""

from __future__ import annotations

import argparse
import ctypes
import multiprocessing
import os
import resource
import statistics
import tempfile
import time
from multiprocessing.connection import Connection
from pathlib import Path

from ablatable.config.identity import run_id
from ablatable.config.load import load_experiment
from ablatable.config.locate import cache_folder
from ablatable.config.schema import Experiment
from ablatable.launch.server import HEAVY, WANDB
from ablatable.record.job import Job
from ablatable.record.schema import Labels

_PR_SET_CHILD_SUBREAPER = 36
TRACKERS = {
    "off": ["tracking.wandb=off"],
    "offline": ["tracking.wandb=offline"],
    "tensorboard": ["tracking.wandb=off", "tracking.tensorboard=true"],
}


def main() -> None:
    """Take turns; print seconds and shares."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--scale", default="demo")
    parser.add_argument("--updates", type=int, help="Fewer than the scale's, for a look.")
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--tracker", choices=["offline", "tensorboard"], default="offline")
    chosen = parser.parse_args()
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload([*HEAVY, *WANDB])
    found: dict[str, list[tuple[float, float]]] = {"off": [], chosen.tracker: []}
    with tempfile.TemporaryDirectory() as folder:
        for turn in range(chosen.turns + 1):
            for name in ("off", chosen.tracker) if turn % 2 else (chosen.tracker, "off"):
                words = [*TRACKERS[name], *([f"train.updates={chosen.updates}"] if chosen.updates else [])]
                receiver, sender = context.Pipe(duplex=False)
                job = (load_experiment("base", words, chosen.scale), Path(folder) / f"{turn}-{name}")
                process = context.Process(target=run, args=(*job, turn == 0, sender))
                process.start()
                measured = receiver.recv()
                process.join()
                if turn:  # the first turn only fetches the data
                    found[name].append(measured)
                    print(f"turn {turn}, {name}: {measured[0]:.2f} s wall, {measured[1]:.2f} s processor", flush=True)
    for kind, what in enumerate(("wall", "processor")):
        before, after = ([run[kind] for run in found[name]] for name in ("off", chosen.tracker))
        added = [b - a for a, b in zip(before, after, strict=True)]
        middle = statistics.median(before)
        print(
            f"{what}: off {middle:.2f} s, {chosen.tracker} {statistics.median(added):+.2f} s "
            f"(turns {min(added):+.2f} to {max(added):+.2f}), {100 * statistics.median(added) / middle:+.2f} %"
        )


def run(experiment: Experiment, root: Path, only_data: bool, report: Connection) -> None:
    """One run and all it starts, measured until the last of them has ended; or just the data it needs."""
    from ablatable.data.dataset import prepare
    from ablatable.launch.executed import execute

    # Whoever outlives its parent becomes ours, so that its time is counted.
    ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    id = run_id(experiment, prepare(experiment, cache_folder()).corpus.fingerprint)
    if only_data:
        report.send((0.0, 0.0))
        return
    began, spent = time.perf_counter(), _processor()
    execute(Job(experiment, id, Labels("demo", "base", None), root / id, cache_folder()))
    wall = time.perf_counter() - began
    _await_descendants()
    report.send((wall, _processor() - spent))


def _await_descendants() -> None:
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        try:
            if os.waitpid(-1, os.WNOHANG)[0] == 0:
                _end_client()
                time.sleep(0.05)
        except ChildProcessError:
            return


def _end_client() -> None:
    """W&B's client waits for its next run; at a process' end it would go by itself."""
    import sys

    wandb = sys.modules.get("wandb")
    if wandb is not None:
        wandb.teardown()


def _processor() -> float:
    both = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(usage.ru_utime + usage.ru_stime for usage in both)


if __name__ == "__main__":
    main()
