"""The picture of a run's heads shows every head, wherever the largest values stand."""

from __future__ import annotations

from ablatable.analysis.scores.pictures import run_figure
from ablatable.analysis.scores.trained import EVEN, HeadScores, Trained
from ablatable.nn.recorder import Kind


def _head(kind: Kind, size: float) -> HeadScores:
    means = {"effective": 10 * size, "largest": 0.5, "gradient": size}
    softmax = {"none": means, "1/sqrt(d_k)": means, EVEN: {"effective": 12 * size, "largest": 0.1, "gradient": size}}
    return HeadScores(kind, 1, 1, 5, 0.0, size, size, size, softmax)


def test_no_head_lies_outside_its_panel() -> None:
    """The rows share an axis; a later panel may hold larger values than the first, or smaller ones."""
    sizes: dict[Kind, float] = {"encoder-self": 1.0, "decoder-self": 3.0, "cross": 0.01}
    heads = [_head(kind, size) for kind, size in sizes.items()]
    made = run_figure(Trained("run", "none", 4, 8, heads, heads))
    assert len(made.axes) == 9
    for axes in made.axes:
        low, high = axes.get_ylim()
        drawn = [float(y) for line in axes.lines for y in line.get_ydata()]
        assert drawn
        assert all(low <= y <= high for y in drawn), (low, high, drawn)
    assert all(axes.get_ylim()[0] == 0 for axes in made.axes[3:])
