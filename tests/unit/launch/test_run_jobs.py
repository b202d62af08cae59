from __future__ import annotations

import contextlib
import signal
import sys
import threading
import time
from collections.abc import Sequence
from pathlib import Path

import pytest

from ablatable.errors import InputError, RunFailed
from ablatable.launch.local import run_jobs
from ablatable.launch.outcome import Ended, Outcome, Queued
from ablatable.launch.process import call_in_child
from ablatable.launch.progress import Silent
from ablatable.launch.slots import Slot
from ablatable.record.store import Store

HERE = Path(__file__).parent
PRELOAD = ["ablatable.launch.warm", "launch_targets"]

sys.path.insert(0, str(HERE))  # the processes under test import the targets by name
from launch_targets import make_queued, pids  # noqa: E402 (after the path)


class Diary(Silent):
    """Remembers the order of starts and how many ran at once."""

    def __init__(self) -> None:
        self.order: list[str] = []
        self.most = 0
        self._now = 0
        self.held_names: list[str] = []

    def started(self, queued: Queued) -> None:
        self.order.append(queued.name)
        self._now += 1
        self.most = max(self.most, self._now)

    def held(self, queued: Queued) -> None:
        self.held_names.append(queued.name)

    def ended(self, ended: Ended) -> None:
        self._now -= not ended.skipped


def launch(queued: Sequence[Queued], slots: int = 2, progress: Silent | None = None, retry: bool = False) -> Outcome:
    return run_jobs(
        queued,
        [Slot(index) for index in range(slots)],
        progress or Silent(),
        retry_failed=retry,
        preload=PRELOAD,
        target="launch_targets:behave",
    )


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    return tmp_path / "runs"


def log(queued: Queued) -> str:
    return (queued.job.folder / "log.txt").read_text()


def how(outcome: Outcome) -> dict[str, tuple[str, str | None]]:
    return {str(ended.job.labels.row): (ended.state, ended.cause) for ended in outcome.ended}


def test_all_run_longest_first_and_never_more_than_the_slots(runs: Path) -> None:
    costs = {"sleep-0.1": 1.0, "sleep-0.2": 5.0, "sleep-0.3": 3.0, "sleep-0.15": 4.0, "plain": 2.0}
    diary = Diary()
    outcome = launch([make_queued(runs, row, cost) for row, cost in costs.items()], 2, diary)
    assert diary.order == [f"{row}, seed 1" for row in sorted(costs, key=lambda row: -costs[row])]
    assert diary.most == 2
    assert outcome.count("completed") == len(costs) == len(Store(runs).records())
    assert outcome.exit_code == 0


def test_a_dying_run_takes_no_other_with_it_and_says_why(runs: Path) -> None:
    rows = ["plain", "signal-9", "signal-11", "exit-3", "raise", "input", "norecord", "diverge", "sleep-0.5"]
    outcome = launch([make_queued(runs, row) for row in rows])
    assert how(outcome) == {
        "plain": ("completed", None),
        "sleep-0.5": ("completed", None),
        "signal-9": ("crashed", "killed by SIGKILL, perhaps out of memory"),
        "signal-11": ("crashed", "killed by SIGSEGV"),
        "exit-3": ("crashed", "ended with exit code 3"),
        "raise": ("crashed", "ValueError: a fault in the training"),
        "input": ("crashed", "data.corpus=nothing: no such corpus"),
        "norecord": ("crashed", "ended without writing its record"),
        "diverge": ("failed", "the loss is nan at update 3"),
    }
    assert outcome.exit_code == 1
    store = Store(runs)
    killed = next(ended.job for ended in outcome.ended if ended.job.labels.row == "signal-9")
    assert store.read(killed.id) is None
    assert store.status(killed.id).state == "interrupted"


def test_a_crashed_run_resumes_next_time_and_nothing_finished_is_repeated(runs: Path) -> None:
    queued = [make_queued(runs, "once"), make_queued(runs, "plain")]
    assert how(launch(queued))["once"][0] == "crashed"
    again = launch(queued)
    assert how(again) == {"once": ("completed", None), "plain": ("completed", None)}
    assert {ended.job.labels.row for ended in again.ended if ended.skipped} == {"plain"}
    assert [len(pids(item)) for item in queued] == [2, 1]


def test_a_failed_run_is_repeated_only_when_asked(runs: Path) -> None:
    queued = [make_queued(runs, "diverge")]
    launch(queued)
    skipped = launch(queued).ended[0]
    assert (skipped.state, skipped.skipped, len(pids(queued[0]))) == ("failed", True, 1)
    repeated = launch(queued, retry=True).ended[0]
    assert (repeated.state, repeated.skipped, len(pids(queued[0]))) == ("failed", False, 2)


def test_a_crash_in_a_repeat_is_not_mistaken_for_the_old_failure(runs: Path) -> None:
    from launch_targets import make_record

    queued = make_queued(runs, "signal-9")
    Store(runs).write_record(make_record(queued.job, "failed", "old"))
    assert launch([queued], retry=True).ended[0].state == "crashed"


def test_output_goes_to_the_run_s_log_and_not_to_ours(runs: Path, capfd: pytest.CaptureFixture[str]) -> None:
    queued = make_queued(runs, "raise")
    launch([queued])
    assert "out raise" in log(queued)
    assert "ValueError: a fault in the training" in log(queued)
    assert "Traceback" in log(queued)
    assert capfd.readouterr() == ("", "")


def test_each_slot_shows_its_own_devices(runs: Path) -> None:
    queued = [make_queued(runs, "environment", seed=seed) for seed in (1, 2)]
    slots = [Slot(0, 3, ("4", "5")), Slot(1, 3, ("6", "7"))]
    run_jobs(queued, slots, Silent(), preload=PRELOAD, target="launch_targets:behave")
    lines = [line for item in queued for line in log(item).splitlines()]
    assert sorted(line for line in lines if "CUDA" in line) == ["CUDA 4,5 OMP 3", "CUDA 6,7 OMP 3"]


def test_a_run_held_by_another_process_is_waited_for_and_never_run_twice(runs: Path) -> None:
    from launch_targets import make_record

    queued = make_queued(runs, "plain")
    store = Store(runs)
    locked, release = threading.Event(), threading.Event()

    def other() -> None:
        with store.lock(queued.job.id):
            locked.set()
            release.wait(20)
            store.write_record(make_record(queued.job))

    thread = threading.Thread(target=other)
    thread.start()
    locked.wait(5)
    threading.Timer(0.7, release.set).start()
    diary = Diary()
    outcome = launch([queued, make_queued(runs, "sleep-0.1")], progress=diary)
    thread.join()
    assert diary.held_names == ["plain, seed 1"]
    assert how(outcome)["plain"] == ("completed", None)
    assert pids(queued) == []


def test_a_run_let_go_without_a_record_is_taken_over(runs: Path) -> None:
    queued = make_queued(runs, "plain")
    lock = contextlib.ExitStack()
    lock.enter_context(Store(runs).lock(queued.job.id))
    threading.Timer(0.7, lock.close).start()
    diary = Diary()
    outcome = launch([queued], progress=diary)
    assert diary.held_names == ["plain, seed 1"]
    assert how(outcome)["plain"] == ("completed", None)
    assert len(pids(queued)) == 1


def test_a_corrupted_record_stops_before_the_first_start(runs: Path) -> None:
    good, bad = make_queued(runs, "plain"), make_queued(runs, "exit-1")
    bad.job.folder.mkdir(parents=True)
    (bad.job.folder / "record.json").write_text("{")
    with pytest.raises(InputError, match=r"record\.json"):
        launch([good, bad])
    assert pids(good) == []


def test_starting_is_quick_once_the_server_is_warm(runs: Path) -> None:
    launch([make_queued(runs, "plain")])
    outcome = launch([make_queued(runs, "plain", seed=seed) for seed in range(2, 7)], 1)
    starts = sorted(ended.start_seconds or 9.0 for ended in outcome.ended)
    assert starts[len(starts) // 2] < 0.2, starts


def test_no_jobs_no_processes(runs: Path) -> None:
    outcome = launch([])
    assert (outcome.ended, outcome.exit_code) == ([], 0)


def test_interrupt_stops_the_runs_and_keeps_what_is_finished(runs: Path) -> None:
    queued = [make_queued(runs, "plain", 9.0), make_queued(runs, "sleep-60"), make_queued(runs, "sleep-61")]
    threading.Timer(1.5, lambda: signal.raise_signal(signal.SIGINT)).start()
    before = signal.getsignal(signal.SIGINT)
    began = time.monotonic()
    outcome = launch(queued)
    assert time.monotonic() - began < 8
    assert outcome.exit_code == 130
    assert how(outcome)["plain"] == ("completed", None)
    assert outcome.count("interrupted") == 2
    assert signal.getsignal(signal.SIGINT) is before
    assert not any(Store(runs).locked(item.job.id) for item in queued)


def test_a_crashed_run_leaves_no_children_behind(runs: Path) -> None:
    queued = make_queued(runs, "crashfamily")
    assert launch([queued]).ended[0].cause == "killed by SIGSEGV"
    line = next(line for line in log(queued).splitlines() if "grandchild" in line)
    time.sleep(0.2)
    status = Path(f"/proc/{line.split()[1]}/stat")
    assert not status.exists() or status.read_text().rpartition(")")[2].split()[0] == "Z"


def test_call_in_child_keeps_torch_and_noise_out(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    call_in_child("launch_targets:write", tmp_path / "x", "done", preload=PRELOAD)
    assert (tmp_path / "x").read_text().startswith("done")
    assert capfd.readouterr().out == ""


def test_call_in_child_raises_what_was_raised() -> None:
    with pytest.raises(InputError, match=r"^no such corpus$"):
        call_in_child("launch_targets:refuse", "no such corpus", preload=PRELOAD)
    with pytest.raises(RunFailed, match="TypeError"):
        call_in_child("launch_targets:refuse", preload=PRELOAD)


def test_a_run_s_stamp_names_the_code_the_server_loaded(tmp_path: Path) -> None:
    """A file edited while a table trains for hours is not what made its numbers."""
    call_in_child("launch_targets:tell_code_noted", tmp_path / "x", preload=PRELOAD)
    assert (tmp_path / "x").read_text() == "1 1"
