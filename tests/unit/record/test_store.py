"""The store under the accidents it is there for: kills, full disks, corruption, two runners at once."""

from __future__ import annotations

import errno
import multiprocessing
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from multiprocessing.process import BaseProcess
from pathlib import Path

import pytest

from ablatable.errors import InputError, RunFailed
from ablatable.record.events import EventWriter
from ablatable.record.files import write_atomic
from ablatable.record.schema import Record
from ablatable.record.store import Store, encode_record

MakeRecord = Callable[..., Record]


def _hold(root: str, id: str) -> None:
    with Store(Path(root)).lock(id):
        time.sleep(60)


@pytest.fixture
def holder(tmp_path: Path) -> Iterator[BaseProcess]:
    """Another process that holds the lock of run ``x``."""
    process = multiprocessing.get_context("spawn").Process(target=_hold, args=(str(tmp_path), "x"), daemon=True)
    process.start()
    store = Store(tmp_path)
    deadline = time.monotonic() + 30
    while not store.locked("x") and time.monotonic() < deadline:
        time.sleep(0.02)
    yield process
    if process.is_alive():
        process.kill()
    process.join()


def test_what_is_written_is_read(tmp_path: Path, make_record: MakeRecord) -> None:
    store = Store(tmp_path / "runs")
    first, second = make_record(), make_record(id="00000000000000bb", seed=2)
    store.write_record(second)
    store.write_record(first)
    assert store.read(first.id) == first
    assert store.records() == [first, second]
    assert store.ids() == [first.id, second.id]


def test_a_store_sees_a_record_that_another_process_replaces(tmp_path: Path, make_record: MakeRecord) -> None:
    store = Store(tmp_path)
    store.write_record(make_record(id="x", status="failed", cause="it diverged"))
    assert store.status("x").state == "failed"
    Store(tmp_path).write_record(make_record(id="x"))
    assert store.status("x").state == "completed"


def test_an_empty_store_touches_nothing(tmp_path: Path) -> None:
    store = Store(tmp_path / "runs")
    assert (store.records(), store.ids(), store.read("x")) == ([], [], None)
    assert store.status("x").state == "missing"
    assert not (tmp_path / "runs").exists()


def test_states(tmp_path: Path, make_record: MakeRecord) -> None:
    store = Store(tmp_path)
    for status in ("completed", "failed", "pruned"):
        store.write_record(make_record(id=status, status=status, cause=f"because {status}"))
    with EventWriter(store.folder("cut") / "events.jsonl") as events:
        events.write("start")
    store.folder("bare").mkdir()
    assert store.status("completed").state == "completed"
    assert (store.status("failed").state, store.status("failed").cause) == ("failed", "because failed")
    assert (store.status("pruned").state, store.status("pruned").cause) == ("pruned", "because pruned")
    assert store.status("cut").state == "interrupted"
    assert "resume" in (store.status("cut").cause or "")
    assert store.status("bare").state == "missing"


def test_a_held_run_is_running_and_refused_to_others_until_its_holder_is_killed(
    tmp_path: Path, holder: BaseProcess
) -> None:
    store = Store(tmp_path)
    assert store.status("x").state == "running"
    with pytest.raises(RunFailed, match="x is being trained by another process"), store.lock("x"):
        pass
    assert holder.pid is not None
    os.kill(holder.pid, signal.SIGKILL)
    holder.join()
    assert not store.locked("x")
    with store.lock("x"):
        assert store.status("x").state == "running"
    assert store.status("x").state == "missing"


def test_a_failed_run_that_is_being_repeated_is_running(tmp_path: Path, make_record: MakeRecord) -> None:
    store = Store(tmp_path)
    store.write_record(make_record(id="x", status="failed", cause="it diverged"))
    with store.lock("x"):
        assert store.status("x").state == "running"
    assert store.status("x").state == "failed"


@pytest.mark.parametrize("damage", [b"", b"{", b"\xff\xfe", b"[]", b"null", b'{"schema_version": 1}'])
def test_a_corrupted_record_names_the_file_and_the_remedy(tmp_path: Path, damage: bytes) -> None:
    store = Store(tmp_path)
    store.folder("x").mkdir()
    (store.folder("x") / "record.json").write_bytes(damage)
    for call in (store.records, lambda: store.read("x"), lambda: store.status("x")):
        with pytest.raises(InputError, match=r"x/record\.json is not a readable record .*move .* away or delete"):
            call()


def test_a_record_in_another_runs_folder_is_refused(tmp_path: Path, make_record: MakeRecord) -> None:
    store = Store(tmp_path)
    write_atomic(store.folder("x") / "record.json", encode_record(make_record()))
    with pytest.raises(InputError, match="holds the record of run 00000000000000aa, not of x"):
        store.read("x")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a disk that is always full")
def test_a_full_disk_is_one_sentence(tmp_path: Path) -> None:
    path = tmp_path / "events.jsonl"
    writer = EventWriter(path)
    writer.write("start")
    full = os.open("/dev/full", os.O_RDWR)
    os.dup2(full, writer._handle)  # pyright: ignore[reportPrivateUsage] (the handle is what the test fills up)
    os.close(full)
    with pytest.raises(RunFailed, match=r"the disk is full: .*events\.jsonl could not be written"):
        writer.write("train", update=1)


def test_a_full_disk_leaves_the_old_record_whole_and_nothing_beside_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "record.json"
    write_atomic(path, "old")

    def full(handle: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(RunFailed, match=r"the disk is full: .*record\.json"):
        write_atomic(path, "new" * 100_000)
    assert path.read_text() == "old"
    assert [entry.name for entry in tmp_path.iterdir()] == ["record.json"]


def test_a_write_the_kernel_cuts_short_leaves_the_old_file(tmp_path: Path) -> None:
    """A limit on file size makes the kernel refuse the write half-way, as a full disk does."""
    script = (
        "import resource, signal, sys\n"
        "from pathlib import Path\n"
        "from ablatable.record.files import write_atomic\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))\n"
        "write_atomic(Path(sys.argv[1]), 'x' * 5000)\n"
    )
    path = tmp_path / "record.json"
    write_atomic(path, "old")
    done = subprocess.run([sys.executable, "-c", script, str(path)], capture_output=True, text=True, check=False)
    assert done.returncode != 0
    assert path.read_text() == "old"
    assert [entry.name for entry in tmp_path.iterdir()] == ["record.json"]


def _keep_writing(path: str) -> None:
    number = 0
    while True:
        write_atomic(Path(path), f"{number}:" + "x" * 200_000 + f":{number}")
        number += 1


def test_kill_9_in_mid_write_never_shows_half_a_file(tmp_path: Path) -> None:
    path = tmp_path / "record.json"
    context = multiprocessing.get_context("spawn")
    process = context.Process(target=_keep_writing, args=(str(path),), daemon=True)
    process.start()
    while not path.exists():
        time.sleep(0.01)
    deadline = time.monotonic() + 0.5
    while time.monotonic() < deadline:
        text = path.read_text()
        assert text.split(":")[0] == text.split(":")[2]
    process.kill()
    process.join()
    text = path.read_text()
    assert text.split(":")[0] == text.split(":")[2]


def test_a_place_that_cannot_be_written_is_bad_input(tmp_path: Path) -> None:
    (tmp_path / "runs").write_text("a file where the folder should be")
    with pytest.raises(InputError, match=r"cannot write .*runs \(.*make it writable"):
        write_atomic(tmp_path / "runs" / "record.json", "{}")
    with pytest.raises(InputError, match="cannot write"), Store(tmp_path / "runs").lock("ab"):
        pass
