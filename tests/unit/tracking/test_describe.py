"""How runs are named, grouped and found, and which mode and identity W&B gets."""

from __future__ import annotations

from pathlib import Path

import pytest

from ablatable.config.load import load_experiment
from ablatable.config.runtime import Tracking
from ablatable.errors import InputError
from ablatable.record.job import Job
from ablatable.record.schema import Labels
from ablatable.tracking.describe import card_of
from ablatable.tracking.opening import check_tracking, open_mirror
from ablatable.tracking.wandb_run import mode, run_name


def job(labels: Labels, *changed: str, words: tuple[str, ...] = ()) -> Job:
    experiment = load_experiment("base", ["data.corpus=toy-en-de", "seed=3", *words])
    return Job(experiment, "0" * 16, labels, Path("runs") / ("0" * 16), Path("cache"), changed=changed)


@pytest.mark.parametrize(
    ("labels", "changed", "name", "tags"),
    [
        (
            Labels("norms", "pre", "cpu"),
            ("model.norm_placement",),
            "pre/3",
            "cpu toy-en-de transformer model.norm_placement",
        ),
        (Labels("norms", "base", "cpu"), (), "base/3", "cpu toy-en-de transformer baseline"),
        (Labels(None, "base", None), (), "base/3", "toy-en-de transformer"),
        (Labels(), (), "run/3", "toy-en-de transformer"),
    ],
)
def test_names_groups_and_tags(labels: Labels, changed: tuple[str, ...], name: str, tags: str) -> None:
    card = card_of(job(labels, *changed))
    assert card.name == name
    assert card.group == labels.study
    assert card.tags == tuple(tags.split())
    assert card.config["run"]["id"] == "0" * 16
    assert card.config["train"]["label_smoothing"] == 0.1


def test_no_tag_is_longer_than_wandb_takes() -> None:
    assert max(len(tag) for tag in card_of(job(Labels("s", "r", "x" * 90))).tags) == 64


@pytest.mark.parametrize(
    ("wanted", "outside", "expected"),
    [
        ("offline", None, "offline"),
        ("online", None, "online"),
        ("off", "online", "off"),
        ("offline", "online", "offline"),
        ("online", "offline", "offline"),
        ("online", "disabled", "off"),
        ("offline", "disabled", "off"),
    ],
)
def test_the_environment_may_only_lessen(
    monkeypatch: pytest.MonkeyPatch, wanted: str, outside: str | None, expected: str
) -> None:
    monkeypatch.delenv("WANDB_MODE", raising=False)
    if outside is not None:
        monkeypatch.setenv("WANDB_MODE", outside)
    assert mode(Tracking(wandb=wanted)) == expected  # pyright: ignore[reportArgumentType] (parametrised)


def test_an_agents_run_has_the_id_its_sweep_waits_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WANDB_RUN_ID", "agents")
    monkeypatch.delenv("WANDB_SWEEP_ID", raising=False)
    assert run_name("ours") == "ours", "an id set for some other program would make all runs one"
    monkeypatch.setenv("WANDB_SWEEP_ID", "sweep")
    assert run_name("ours") == "agents"


def test_online_without_a_login_is_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("NETRC", str(tmp_path / "netrc"))
    check_tracking(Tracking(wandb="online"))  # the environment says offline, which needs none
    monkeypatch.delenv("WANDB_MODE")
    with pytest.raises(InputError, match=r"tracking\.wandb=online needs a login; run `wandb login`, or set tracking"):
        check_tracking(Tracking(wandb="online"))


def test_tensorboard_without_its_package_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(InputError, match=r"tensorboard=true needs the tensorboard package; pip install 'ablatable\["):
        check_tracking(Tracking(tensorboard=True))


def test_off_opens_nothing(tmp_path: Path) -> None:
    with open_mirror(job(Labels(), words=("tracking.wandb=off",))) as mirror:
        mirror.summarise(lambda: pytest.fail("asked"))
