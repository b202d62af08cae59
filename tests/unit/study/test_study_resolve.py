from __future__ import annotations

from pathlib import Path

import pytest

from ablatable.config.data import Data
from ablatable.config.layers import from_overrides
from ablatable.config.load import load_experiment
from ablatable.errors import InputError
from ablatable.study.load import load_study, read_study
from ablatable.study.plan import changes
from ablatable.study.resolve import resolve

REPOSITORY = Path(__file__).resolve().parents[3]
STUDIES = sorted((REPOSITORY / "ablations").glob("*.yaml"))
SCALES = sorted(path.stem for path in (REPOSITORY / "experiments" / "scales").glob("*.yaml"))


def fingerprint(data: Data) -> str:
    return f"text of {data.corpus}"


def edit(path: Path, right: str, wrong: str) -> None:
    text = path.read_text(encoding="utf-8")
    assert text.count(right) == 1
    path.write_text(text.replace(right, wrong), encoding="utf-8")


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("path", STUDIES, ids=lambda path: path.stem)
def test_every_committed_study_resolves_at_every_scale_it_allows(path: Path, scale: str) -> None:
    study = read_study(path)
    if study.scales and scale not in study.scales:
        with pytest.raises(InputError, match="runs at"):
            resolve(study, scale, 1, fingerprint)
        return
    rows = resolve(study, scale, 2, fingerprint)
    assert [row.row for row in rows] == [row for row in study.rows if row not in study.absent(scale)]
    ids = [id for row in rows for id in row.ids]
    assert len(set(ids)) == len(ids) == 2 * len(rows)


@pytest.mark.parametrize("path", STUDIES, ids=lambda path: path.stem)
def test_every_scale_a_study_allows_is_there(path: Path) -> None:
    assert set(read_study(path).scales) <= set(SCALES)


def test_a_row_keeps_everything_it_does_not_set(tiny: Path) -> None:
    """SWP-11: model.layers alone mustn't replace the whole model block. SWP-12: the value reaches the run."""
    base, heads, layers = resolve(load_study("tiny"), "paper", 1, fingerprint)
    assert base.experiments[0] == load_experiment("base")
    assert changes(base.experiments[0], heads.experiments[0]) == {"model.heads": 1}
    assert changes(base.experiments[0], layers.experiments[0]) == {"model.layers": 2}
    assert (layers.experiments[0].model.d_model, layers.experiments[0].model.heads) == (512, 8)


def test_a_scale_maps_the_row_written_at_paper_size(tiny: Path) -> None:
    base, _, layers = resolve(load_study("tiny"), "cpu", 1, fingerprint)
    scaled = load_experiment("base", scale="cpu")
    assert base.experiments[0] == scaled
    assert changes(base.experiments[0], layers.experiments[0]) == {"model.layers": 1}
    assert scaled.model.layers == 3


def test_seeds_follow_the_baselines_own(tiny: Path) -> None:
    for row in resolve(load_study("tiny"), "paper", 3, fingerprint):
        assert row.seeds == (1, 2, 3)
        assert [e.seed for e in row.experiments] == [1, 2, 3]
    with pytest.raises(InputError, match="--seeds 0"):
        resolve(load_study("tiny"), "paper", 0, fingerprint)


def test_ids_depend_on_the_corpus(tiny: Path) -> None:
    study = load_study("tiny")
    one = resolve(study, "paper", 1, fingerprint)
    other = resolve(study, "paper", 1, lambda _: "another text")
    assert one[0].ids != other[0].ids
    assert one[0].ids == resolve(study, "paper", 1, fingerprint)[0].ids


def test_a_row_that_changes_nothing_is_refused(tiny: Path) -> None:
    edit(tiny, "{model.heads: 1}", "{model.heads: 8}")
    message = r"tiny.yaml:13: row 'h=1' changes nothing: model.heads=8 is what the baseline base has already"
    for scale in ("paper", "cpu"):
        with pytest.raises(InputError, match=message):
            resolve(load_study("tiny"), scale, 1, fingerprint)


def test_spelling_out_what_the_baseline_derives_changes_nothing(tiny: Path) -> None:
    edit(tiny, "{model.heads: 1}", "{model.d_k: 64}")
    with pytest.raises(InputError, match=r"row 'h=1' changes nothing: model\.d_k=64"):
        resolve(load_study("tiny"), "paper", 1, fingerprint)


def test_a_row_equal_to_another_row_is_refused(tiny: Path) -> None:
    edit(tiny, "{model.layers: 2}", "{model.heads: 1, model.layers: 6}")
    with pytest.raises(InputError, match=r"tiny.yaml:16: rows 'h=1' \(.*tiny.yaml:13\) and 'N=2' are the same run"):
        resolve(load_study("tiny"), "cpu", 1, fingerprint)


def test_rows_that_a_scale_makes_equal_are_refused_there_only(tiny: Path) -> None:
    """With 16 heads the base's d_k = d_v = 512/16 = 32 is what the third row sets."""
    scale = tiny.parents[1] / "experiments" / "scales" / "many-heads.yaml"
    scale.parent.mkdir(parents=True)
    scale.write_text("title: many heads\nset: {model.heads: 16}\n", encoding="utf-8")
    edit(tiny, "{model.heads: 1}", "{model.dropout: 0.0}")
    edit(tiny, "{model.layers: 2}", "{model.d_k: 32, model.d_v: 32}")
    assert len(resolve(load_study("tiny"), "paper", 1, fingerprint)) == 3
    message = r"tiny.yaml:16: rows 'base' and 'N=2' are the same run at scale many-heads; choose another scale"
    with pytest.raises(InputError, match=message):
        resolve(load_study("tiny"), "many-heads", 1, fingerprint)


def test_overrides_that_level_a_row_are_refused(tiny: Path) -> None:
    level = from_overrides(["model.heads=1", "model.layers=2"])
    message = "rows 'base' and 'h=1' are the same run at scale cpu with these overrides"
    with pytest.raises(InputError, match=message):
        resolve(load_study("tiny"), "cpu", 1, fingerprint, overrides=level)


def test_a_scale_may_not_replace_what_a_row_is_about(tiny: Path) -> None:
    scale = tiny.parents[1] / "experiments" / "scales" / "one-head.yaml"
    scale.parent.mkdir(parents=True)
    scale.write_text("title: one head\nset: {model.heads: 1}\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"tiny.yaml:15: model\.heads is what this row changes"):
        resolve(load_study("tiny"), "one-head", 1, fingerprint)


def test_an_impossible_row_names_its_line(tiny: Path) -> None:
    edit(tiny, "{model.heads: 1}", "{model.heads: 0}")
    with pytest.raises(InputError, match=r"tiny.yaml:15: model.heads=0 is not possible"):
        resolve(load_study("tiny"), "paper", 1, fingerprint)
    edit(tiny, "{model.heads: 0}", "{model.heads: 3}")
    with pytest.raises(InputError, match=r"tiny.yaml:15.*model.heads=3 does not divide model.d_model=512"):
        resolve(load_study("tiny"), "paper", 1, fingerprint)


def test_unknown_scale_and_baseline_name_the_nearest(tiny: Path) -> None:
    with pytest.raises(InputError, match="unknown scale 'cup'; did you mean 'cpu'"):
        resolve(load_study("tiny"), "cup", 1, fingerprint)
    edit(tiny, "baseline: base", "baseline: bose")
    with pytest.raises(InputError, match=r"tiny.yaml:3: unknown experiment 'bose'; did you mean 'base'"):
        resolve(load_study("tiny"), "paper", 1, fingerprint)


def test_a_split_nobody_evaluates_is_refused(tiny: Path) -> None:
    edit(tiny, "baseline: base", "baseline: base\nsplit: test")
    with pytest.raises(
        InputError, match=r"tiny.yaml:4: the table shows the test split, and row 'base' evaluates valid"
    ):
        resolve(load_study("tiny"), "paper", 1, fingerprint)
