"""`ablatable doctor` answers on any machine, and a broken part never hides the others."""

from __future__ import annotations

import importlib.metadata
import json
from pathlib import Path

import pytest

from ablatable.cli.doctor import doctor, examine
from ablatable.cli.findings import machine
from ablatable.cli.findings.finding import Finding
from ablatable.cli.findings.machine import cpu_flags


def findings(title: str) -> dict[str, Finding]:
    return {finding.key: finding for finding in examine()[title]}


def fake_program(folder: Path, name: str, script: str) -> None:
    path = folder / name
    path.write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
    path.chmod(0o755)


def test_json_is_one_document_with_every_section(capsys: pytest.CaptureFixture[str]) -> None:
    doctor("json")
    report = json.loads(capsys.readouterr().out)
    assert list(report) == [
        "machine", "accelerators", "corpora", "tracking", "cluster", "packages", "folders", "optional",
    ]  # fmt: skip
    assert report["packages"]["torch"]["value"] == importlib.metadata.version("torch")
    assert report["machine"]["cores"]["value"] >= 1
    assert not [title for title, answers in report.items() if "problem" in answers]


def test_text_names_every_section_and_explains_its_marks(capsys: pytest.CaptureFixture[str]) -> None:
    doctor("text")
    out = capsys.readouterr().out
    assert "\nmachine\n" in out
    assert "\nfolders\n" in out
    assert out.endswith("+ fine   ! read this   - not available here\n")


@pytest.mark.parametrize(
    ("line", "bf16"),
    [
        ("flags\t\t: fpu avx2 avx512_bf16 amx_bf16", True),
        ("Features\t: fp asimd bf16", True),
        ("flags\t\t: fpu avx avx2 f16c", False),
        ("", None),
    ],
)
def test_bf16_comes_from_the_processor_flags(line: str, bf16: bool | None, monkeypatch: pytest.MonkeyPatch) -> None:
    texts = {"/proc/cpuinfo": f"processor\t: 0\n{line}\n", "/proc/meminfo": ""}
    monkeypatch.setattr(machine, "_read", texts.__getitem__)
    finding = findings("machine")["cpu_bf16"]
    assert finding.value is bf16
    assert finding.state == ("ok" if bf16 else "note")


def test_flags_of_a_text_without_any_are_empty() -> None:
    assert cpu_flags("processor : 0\nmodel name : x\n") == set()


def test_a_broken_part_is_reported_and_the_rest_still_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken() -> object:
        raise OSError("libcudart.so is missing\nand more lines")

    monkeypatch.setattr(machine, "accelerators", broken)
    report = examine()
    assert report["accelerators"] == [
        Finding(
            "problem",
            "OSError: libcudart.so is missing",
            "could not be examined: OSError: libcudart.so is missing",
            "note",
        )
    ]
    assert report["packages"]


def test_slurm_partitions_are_listed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fake_program(tmp_path, "sinfo", "echo 'gpu*|up|4|64|gpu:h100:8'; echo 'cpu|down|2|32|(null)'")
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    found = findings("cluster")
    assert found["slurm"].value is True
    assert found["partition gpu"].value == {
        "state": "up", "nodes": "4", "cores": "64", "resources": "gpu:h100:8",
    }  # fmt: skip
    assert found["partition cpu"].text == "partition cpu: down, 2 nodes of 32 cores, (null)"


def test_slurm_that_does_not_answer_is_a_note(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fake_program(tmp_path, "sinfo", "echo 'unable to contact slurm controller' >&2; exit 1")
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    assert findings("cluster")["slurm"].state == "note"


def test_a_machine_without_apt_cannot_fetch_lohelp_but_can_make_the_toy_corpus(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    found = findings("corpora")
    assert found["lohelp-en-de"].state == "missing"
    assert "apt-get" in found["lohelp-en-de"].text
    assert found["toy-en-de"].state == "ok"


@pytest.mark.parametrize("by", ["key", "netrc", "nothing"])
def test_login_is_seen_where_the_client_looks(by: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("WANDB_API_KEY", raising=False)
    monkeypatch.setenv("NETRC", str(tmp_path / "netrc"))
    if by == "key":
        monkeypatch.setenv("WANDB_API_KEY", "made-up")
    if by == "netrc":
        (tmp_path / "netrc").write_text("machine api.wandb.test login user password made-up\n", encoding="utf-8")
    finding = findings("tracking")["login"]
    assert finding.value is (by != "nothing")
    assert "made-up" not in str(finding)


def test_folders_that_do_not_exist_yet_have_their_disk_measured(tmp_path: Path) -> None:
    found = findings("folders")
    runs = found["runs"].value
    assert isinstance(runs, dict)
    assert runs["path"] == str(tmp_path / "runs")
    assert runs["exists"] is False
    assert runs["free_bytes"] > 0


def test_little_disk_says_which_variable_moves_the_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machine, "LOW_DISK", 2**62)
    assert "ABLATABLE_CACHE" in findings("folders")["cache"].text
