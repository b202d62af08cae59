"""Strictness of records, and the chain of upgrades that keeps old ones readable."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from pathlib import Path

import pytest
from pydantic import ValidationError

from ablatable.errors import InputError
from ablatable.record.schema import SCHEMA_VERSION, CurvePoint, Metric, Record
from ablatable.record.store import decode_record, encode_record
from ablatable.record.upgrade import UPGRADES, upgraded

MakeRecord = Callable[..., Record]


def test_a_record_survives_the_round_trip(make_record: MakeRecord) -> None:
    record = make_record()
    assert decode_record(encode_record(record).encode(), "here", "do this") == record


def test_equal_records_give_equal_bytes_whatever_the_order_of_their_metrics(make_record: MakeRecord) -> None:
    record = make_record()
    backwards = make_record(metrics=dict(reversed(list(record.metrics.items()))))
    assert encode_record(backwards) == encode_record(record)


@pytest.mark.parametrize("value", [math.nan, math.inf])
def test_a_metric_is_finite(value: float) -> None:
    with pytest.raises(ValidationError):
        Metric(value, "BLEU")


def test_a_diverged_curve_can_be_written(make_record: MakeRecord) -> None:
    record = make_record(status="failed", curve=[CurvePoint(1, math.nan, math.inf)])
    read = decode_record(encode_record(record).encode(), "here", "do this")
    assert read.curve == [CurvePoint(1, None, None)]
    assert read.curve[0].valid_ppl is None


def test_perplexity_of_a_curve_point_is_exp_of_its_nll() -> None:
    assert CurvePoint(1, 2.0).valid_ppl == math.exp(2.0)


@pytest.mark.parametrize(
    ("change", "named"),
    [
        (lambda d: d.update(surprise=1), "surprise"),
        (lambda d: d.pop("metrics"), "metrics"),
        (lambda d: d.update(seed="1"), "seed"),
        (lambda d: d.update(status="finished"), "status"),
        (lambda d: d["stamp"].update(threads=1.5), "stamp.threads"),
        (lambda d: d.pop("schema_version"), "schema_version"),
        (lambda d: d.update(schema_version=SCHEMA_VERSION + 1), "update ablatable"),
    ],
)
def test_what_is_wrong_in_a_record_is_named_with_its_place_and_remedy(
    make_record: MakeRecord, change: Callable[[dict[str, object]], object], named: str
) -> None:
    content = json.loads(encode_record(make_record()))
    change(content)
    with pytest.raises(InputError, match=named) as caught:
        decode_record(json.dumps(content).encode(), "runs/x/record.json", "delete it")
    assert "runs/x/record.json" in str(caught.value)
    assert "delete it" in str(caught.value)


def test_upgrades_are_applied_in_a_chain() -> None:
    steps = {
        1: lambda d: {**d, "tokens": d["token"]},
        2: lambda d: {key: value for key, value in d.items() if key != "token"},
    }
    assert upgraded({"schema_version": 1, "token": 7}, steps, target=3) == {"schema_version": 3, "tokens": 7}


def test_a_missing_step_is_said() -> None:
    with pytest.raises(ValueError, match="version 1 to 2"):
        upgraded({"schema_version": 1}, {}, target=3)


def test_every_step_up_to_this_version_exists() -> None:
    assert sorted(UPGRADES) == list(range(1, SCHEMA_VERSION))


OLD_RECORDS = sorted((Path(__file__).parents[2] / "old_records").glob("*.json"))


def test_a_record_of_every_version_is_kept() -> None:
    versions = {json.loads(path.read_text(encoding="utf-8"))["schema_version"] for path in OLD_RECORDS}
    assert versions == set(range(1, SCHEMA_VERSION + 1))


@pytest.mark.parametrize("path", OLD_RECORDS, ids=lambda path: path.name)
def test_old_records_open(path: Path) -> None:
    record = decode_record(path.read_bytes(), str(path), "restore it from git")
    assert record.schema_version == SCHEMA_VERSION
    assert record.metric("valid.bleu") == 15.25
    assert record.curve[-1].valid_nll == 2.25
    assert record.stamp.hardware.cores == 2
