"""The parts of a comparison by themselves: values worked out by hand."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from run_shelf import Shelf

from ablatable.config.locate import cache_folder, runs_folder
from ablatable.record.schema import Labels
from ablatable.report.compare.differences import differing_provenance, differing_settings
from ablatable.report.compare.markdown import _harmless as harmless
from ablatable.report.compare.model import Curve, PairedTest, Point
from ablatable.report.compare.numbers import curves, metric_lines
from ablatable.report.compare.plot import save_curves
from ablatable.report.compare.plot_text import draw
from ablatable.report.compare.sentences import most_changed
from ablatable.report.compare.side import Run, Side, row
from ablatable.report.compare.significance import holm, holm_by_family, seed_tests
from ablatable.report.compare.text import Text
from ablatable.report.settings import INACTIVE
from ablatable.scoring.bleu import sentence_bleu
from ablatable.scoring.statistics import MEASURES


@pytest.fixture
def shelf() -> Shelf:
    return Shelf(runs_folder(), cache_folder())


def side(letter: str, *records) -> Side:
    return row(letter, f"study/{letter}", [Run(record, None) for record in records], None)


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([0.01, 0.04, 0.03], [0.03, 0.06, 0.06]),  # 3 x 0.01; 2 x 0.03; 1 x 0.04 may not fall below that
        ([0.2], [0.2]),
        ([0.5, 0.9], [1.0, 1.0]),
        ([0.04, 0.01], [0.04, 0.02]),
        ([0.02, 0.02], [0.04, 0.04]),
    ],
)
def test_holm(values: list[float], expected: list[float]) -> None:
    assert holm(values) == pytest.approx(expected)


def test_a_family_is_one_metric_and_test() -> None:
    def line(letter: str, metric: str, test: str, p: float, over="sentences") -> PairedTest:
        return PairedTest(letter, metric, test, over, 9, 0.0, None, None, p)

    lines = [
        line("B", "valid.bleu", "one", 0.01),
        line("C", "valid.bleu", "one", 0.04),
        line("B", "valid.bleu", "two", 0.3),
        line("B", "valid.nll", "paired t", 0.02, "seeds"),
        line("C", "valid.nll", "Welch", 0.5, "seeds"),
    ]
    assert [made.corrected for made in holm_by_family(lines)] == [0.02, 0.04, None, 0.04, 0.5]


def test_only_what_differs_is_shown_and_resolved(shelf: Shelf) -> None:
    one = shelf.run("a" * 16, "model.position=rope", "model.d_k=64")
    other = shelf.run("b" * 16, "model.heads=4", "model.position=alibi", "runtime.threads=2")
    lines = {line.path: line for line in differing_settings([side("A", one), side("B", other)])}
    assert {path: line.values for path, line in lines.items()} == {
        "model.heads": (8, 4),
        "model.d_k": (64, 128),  # said on one side, d_model / heads on the other
        "model.d_v": (64, 128),
        "model.position": ("rope", "alibi"),
        "model.position_layout": ("interleaved", INACTIVE),
        "model.position_base": (10000.0, INACTIVE),
        "model.position_slopes": (INACTIVE, "fixed"),
        "runtime.threads": (1, 2),
    }
    assert [path for path, line in lines.items() if line.operational] == ["runtime.threads"]


def test_a_width_said_in_full_differs_from_nothing(shelf: Shelf) -> None:
    one, other = shelf.run("a" * 16, "model.d_k=64"), shelf.run("b" * 16)
    assert differing_settings([side("A", one), side("B", other)]) == []


def test_seeds_differ_only_where_the_sides_have_others(shelf: Shelf) -> None:
    runs = [shelf.run(f"{i}" * 16, f"seed={seed}") for i, seed in enumerate((1, 2, 1, 2, 3))]
    assert differing_settings([side("A", *runs[:2]), side("B", *runs[2:4])]) == []
    (line,) = differing_settings([side("A", *runs[:2]), side("B", *runs[2:])])
    assert line.path == "seed"
    assert line.values == ((1, 2), (1, 2, 3))


def test_settings_of_another_version_are_compared_as_they_stand(shelf: Shelf) -> None:
    one = shelf.run("a" * 16)
    other = replace(one, config={**one.config, "model": {**one.config["model"], "warp": 9}})
    (line,) = differing_settings([side("A", one), side("B", other)])
    assert (line.path, line.values) == ("model.warp", (None, 9))


def test_provenance(shelf: Shelf) -> None:
    one = shelf.run("a" * 16)
    other = shelf.run("b" * 16, stamp={"packages": {"torch": "9.9", "sacrebleu": "2.6.0"}, "python": "3.12.1"})
    found = {line.path: line.values for line in differing_provenance([side("A", one), side("B", other)])}
    assert found == {"torch": ("2.13.0", "9.9"), "python": ("3.11.7", "3.12.1")}


def test_paired_t_over_seeds_by_hand(shelf: Shelf) -> None:
    """Gaps 1, 1.5, 1: mean 7/6, sd 1/sqrt(12), t = 7 with 2 degrees of freedom, so p = 1 - 7 / sqrt(51)."""

    def record(id: str, seed: int, bleu: float):
        return shelf.run(id * 16, f"seed={seed}", metrics={"valid.bleu": bleu})

    base = side("A", *(record(id, seed, bleu) for id, seed, bleu in (("1", 1, 20), ("2", 2, 21), ("3", 3, 22))))
    other = side("B", *(record(id, seed, bleu) for id, seed, bleu in (("4", 1, 21), ("5", 2, 22.5), ("6", 3, 23))))
    (line,) = seed_tests([base, other], "valid")
    assert (line.metric, line.test, line.over, line.n) == ("valid.bleu", "paired t over seeds", "seeds", 3)
    assert line.difference == pytest.approx(7 / 6)
    assert line.p == pytest.approx(1 - 7 / 51**0.5)
    assert line.corrected is None
    two = seed_tests([base, other, replace(other, letter="C")], "valid")
    assert [made.corrected for made in two] == pytest.approx([2 * line.p, 2 * line.p])
    strangers = side("B", record("7", 8, 21.0), record("8", 9, 22.5))
    (welch,) = seed_tests([base, strangers], "valid")
    assert (welch.test, welch.n) == ("Welch's t over seeds", 5)
    assert seed_tests([base, side("B", other.records[0])], "valid") == []


def test_no_difference_is_given_across_yardsticks(shelf: Shelf) -> None:
    scores = {"valid.nll": 2.0, "valid.bleu": 10.0}
    one = shelf.run("a" * 16, metrics=scores)
    other = shelf.run("b" * 16, metrics=scores, stamp={"tokenizer_fingerprint": "other"})
    lines = {line.key: line for line in metric_lines([side("A", one), side("B", other)])}
    assert lines["valid.nll"].differences == (None, None)
    gap = lines["valid.bleu"].differences[1]
    assert gap is not None
    assert gap.value == 0.0
    assert lines["parameters"].samples[0].mean == 1000


def test_curves_average_over_the_updates_that_all_seeds_have(shelf: Shelf) -> None:
    one = shelf.run("a" * 16, curve=[(10, 4.0), (20, 3.0), (30, 2.0)])
    other = shelf.run("b" * 16, "seed=2", curve=[(10, 5.0), (20, None), (30, 3.0), (40, 1.0)])
    (curve,) = curves([side("A", one, other)])
    assert curve.points == (Point(10, 20.0, 4.5, 4.0, 5.0), Point(30, 60.0, 2.5, 2.0, 3.0))


def test_a_curve_as_text() -> None:
    falling = Curve("A", "a", 1, (Point(0, 0, 3.0, 3.0, 3.0), Point(8, 8, 1.0, 1.0, 1.0)))
    flat = Curve("B", "b", 1, (Point(0, 0, 1.0, 1.0, 1.0), Point(8, 8, 1.0, 1.0, 1.0)))
    assert draw([falling, flat], "update", width=9, height=5).splitlines() == [
        "     3 |AA",
        "       |  A",
        "       |   AAA",
        "       |      A",
        "     1 |BBBBBBB++",
        "       +---------",
        "        0updates8",
    ]
    assert draw([Curve("A", "a", 1, ())], "update") == ""
    single = Curve("A", "a", 1, (Point(5, 9, 2.0, 2.0, 2.0),))
    assert draw([single], "target_tokens").count("A") == 1


def test_the_picture_is_the_same_bytes_each_time(tmp_path: Path) -> None:
    made = [Curve(letter, letter, 2, (Point(1, 2, 3.0, 2.5, 3.5), Point(2, 4, 2.0, 1.5, 2.5))) for letter in "AB"]
    made.append(Curve("C", "diverged", 1, ()))
    first, second = (save_curves(made, tmp_path / name, "a note " * 40) for name in ("one", "two"))
    assert [path.name for path in first] == ["curves.png", "curves.svg"]
    assert [path.read_bytes() for path in first] == [path.read_bytes() for path in second]


def text(references: list[str], *systems: list[str]) -> Text:
    counts = {name: tuple(m.counts(lines, references) for lines in systems) for name, m in MEASURES.items()}
    return Text(tuple(references), tuple(references), tuple(map(tuple, systems)), (), counts)


def test_changed_sentences_largest_first_equal_ones_in_order() -> None:
    references = ["aaaa bbbb", "cccc dddd", "same here", "cccc dddd"]
    one = ["aaaa bbbb", "cccc xxxx", "anything", "cccc xxxx"]
    other = ["zzzz yyyy", "cccc dddd", "anything", "cccc dddd"]
    made = text(references, one, other)
    found = most_changed(made, 9, "chrf")
    assert [sentence.number for sentence in found] == [1, 2, 4]  # the third is bad on both sides alike
    assert found[0].scores == pytest.approx((100.0, 0.0))
    assert found[1].spread == found[2].spread < 100
    assert [sentence.number for sentence in most_changed(made, 2, "chrf")] == [1, 2]
    by_bleu = most_changed(made, 1, "bleu")[0]
    assert by_bleu.scores == (sentence_bleu(one[0], references[0]), sentence_bleu(other[0], references[0]))
    assert most_changed(made, 0, "chrf") == []


def test_sentence_bleu_is_of_the_orders_there_are() -> None:
    assert sentence_bleu("a b", "a b") == pytest.approx(100.0)
    assert sentence_bleu("no", "yes") == 0.0


def test_text_cannot_command_the_terminal() -> None:
    assert harmless("a\x1b[31mb\u2028c\u00e9 \u00ad") == "a\\x1b[31mb\\u2028c\u00e9 \u00ad"


def test_labels_name_runs(shelf: Shelf) -> None:
    record = shelf.run("a" * 16, "seed=2", labels=Labels("table3", "h=1", "cpu"))
    assert row("B", "table3/h=1", [Run(record, None)], None).head == "B table3/h=1/2"
