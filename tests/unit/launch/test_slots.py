from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from ablatable.config.runtime import Runtime
from ablatable.errors import InputError
from ablatable.launch import slots
from ablatable.launch.slots import Slot, cpu_cores, cuda_devices, parse_listing, plan_slots

LISTING = """\
GPU 0: NVIDIA H200 (UUID: GPU-aaaa)
GPU 1: NVIDIA H200 (UUID: GPU-bbbb)
  MIG 3g.71gb     Device  0: (UUID: MIG-1111)
  MIG 3g.71gb     Device  1: (UUID: MIG-2222)
GPU 2: NVIDIA H200 (UUID: GPU-cccc)
"""


def machine(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, cores: int, listing: str = "", visible: str | None = None
) -> None:
    """A machine with so many cores, and an nvidia-smi that prints the listing or, without one, fails."""
    tool = tmp_path / "nvidia-smi"
    tool.write_text(f"#!/bin/sh\ncat <<'END'\n{listing}END\n" if listing else "#!/bin/sh\nexit 9\n")
    tool.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setattr(slots, "cpu_cores", lambda: cores)
    if visible is None:
        monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    else:
        monkeypatch.setenv("CUDA_VISIBLE_DEVICES", visible)


@pytest.mark.parametrize(
    ("cores", "threads", "ranks", "count"),
    [(2, 1, 1, 2), (2, 2, 1, 1), (8, 3, 1, 2), (1, 4, 1, 1), (8, 1, 2, 4)],
)
def test_cpu_slots_are_cores_over_threads(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, cores: int, threads: int, ranks: int, count: int
) -> None:
    machine(monkeypatch, tmp_path, cores)
    planned = plan_slots([Runtime(threads=threads, devices=ranks)])
    assert planned == [Slot(index, threads) for index in range(count)]
    assert "CUDA_VISIBLE_DEVICES" not in planned[0].environment()


def test_the_widest_run_sets_the_size(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    machine(monkeypatch, tmp_path, 8)
    assert len(plan_slots([Runtime(threads=1), Runtime(threads=4)])) == 2


def test_cuda_slots_divide_the_devices(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    machine(monkeypatch, tmp_path, 64, LISTING)
    assert [slot.devices for slot in plan_slots([Runtime()])] == [
        ("0",),
        ("MIG-1111",),
        ("MIG-2222",),
        ("2",),
    ]
    assert [slot.devices for slot in plan_slots([Runtime(devices=2)])] == [
        ("0", "MIG-1111"),
        ("MIG-2222", "2"),
    ]
    assert plan_slots([Runtime(devices=2)])[1].environment()["CUDA_VISIBLE_DEVICES"] == "MIG-2222,2"
    assert [slot.devices for slot in plan_slots([Runtime(devices=3)], 2)] == [("0", "MIG-1111", "MIG-2222")] * 2


def test_only_visible_devices_count(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    machine(monkeypatch, tmp_path, 64, LISTING, visible="2,GPU-aaaa")
    assert [slot.devices for slot in plan_slots([Runtime()])] == [("2",), ("GPU-aaaa",)]


@pytest.mark.parametrize("hidden", ["", "-1", "-1,0"])
def test_hidden_devices_leave_the_cpu(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, hidden: str) -> None:
    machine(monkeypatch, tmp_path, 2, LISTING, visible=hidden)
    assert cuda_devices() == []
    assert plan_slots([Runtime()]) == [Slot(0), Slot(1)]


def test_runs_on_the_cpu_see_no_device(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    machine(monkeypatch, tmp_path, 2, LISTING)
    planned = plan_slots([Runtime(accelerator="cpu")])
    assert [slot.environment()["CUDA_VISIBLE_DEVICES"] for slot in planned] == ["", ""]


def test_asking_for_too_much_is_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    machine(monkeypatch, tmp_path, 2, LISTING)
    with pytest.raises(InputError, match=r"runtime\.devices=8, but 4 CUDA devices"):
        plan_slots([Runtime(devices=8)])
    with pytest.raises(InputError, match="--slots 0"):
        plan_slots([Runtime()], 0)
    machine(monkeypatch, tmp_path, 2)
    with pytest.raises(InputError, match=r"runtime\.accelerator=cuda, but no CUDA device"):
        plan_slots([Runtime(accelerator="cuda")])


def test_a_limit_may_share_cores(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    machine(monkeypatch, tmp_path, 2)
    assert len(plan_slots([Runtime()], 5)) == 5
    assert len(plan_slots([Runtime()], 1)) == 1


def test_a_listing_without_devices() -> None:
    assert parse_listing("No devices found.\n") == []


@pytest.mark.parametrize(
    ("quota", "cores"), [("max 100000", None), ("150000 100000", 1), ("50000 100000", 1), ("junk", None)]
)
def test_the_container_s_quota_limits_the_cores(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, quota: str, cores: int | None
) -> None:
    (tmp_path / "cpu.max").write_text(quota)
    monkeypatch.setattr(slots, "_CGROUP_QUOTA", tmp_path / "cpu.max")
    assert cpu_cores() == (cores or len(os.sched_getaffinity(0)))


def test_counting_never_imports_torch() -> None:
    code = (
        "import sys, ablatable.launch.study; from ablatable.launch.slots import Runtime, plan_slots; "
        "plan_slots([Runtime()]); print('torch' in sys.modules)"
    )
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    out = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    assert out.stdout == "False\n"
