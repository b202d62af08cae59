"""Positions that cannot be, or would do nothing, are refused at load."""

import pytest

from ablatable.config.load import load_experiment
from ablatable.errors import InputError


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        # POS-11: before any data or tokenizer is touched.
        (["model.d_model=120", "model.position=rope"], "d_k is 15"),
        (["model.d_k=7", "model.position=rope"], "d_k is 7"),
        (["model.d_model=128", "model.heads=3", "model.position=rope"], "does not divide model.d_model=128"),
        (["model.d_model=128", "model.heads=6", "model.position=rope"], "does not divide model.d_model=128"),
        (["model.d_model=511", "model.heads=7"], "model.d_model=511 is odd"),
        (["model.position=rope", "model.score=additive"], "model.score=additive has none"),
        (["model.position=shaw", "model.score=additive"], "model.score=additive is none"),
        (["model.position=shaw", "model.score=cosine"], "model.score=cosine is none"),
        (["model.position=t5", "model.position_buckets=31"], "choose 30 or 32"),
        (["model.position=t5", "model.position_distance=16"], "raise it above half of model.position_buckets"),
        (["model.position=rope", "model.position_slopes=learned"], "model.position=alibi"),
        (["model.position=t5", "model.position_clip=4"], "model.position=shaw"),
        (["model.position=shaw", "model.position_buckets=16"], "model.position=t5"),
        (["model.position=alibi", "model.position_distance=64"], "model.position=t5"),
        (["model.position=learned", "model.position_layout=halves"], "model.position=sinusoidal|rope"),
        (["model.position=alibi", "model.position_base=100.0"], "model.position=sinusoidal|rope"),
        (["model.position=rope", "model.position_combine=concatenate"], "model.position=sinusoidal|learned|index"),
        (["model.position=none", "model.position_combine=concatenate"], "model.position=sinusoidal|learned|index"),
        (["model.position=index", "model.position_max=100"], "model.position=learned"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_impossible_and_inert_positions_are_refused(words: list[str], expected: str) -> None:
    with pytest.raises(InputError, match="command line") as error:
        load_experiment("base", words)
    assert expected in str(error.value)


@pytest.mark.parametrize("position", ["index", "rope", "alibi", "shaw", "t5", "none"])
def test_a_position_is_one_key(position: str) -> None:
    assert load_experiment("base", [f"model.position={position}"]).model.position == position


def test_an_odd_width_of_a_head_may_have_other_positions() -> None:
    """POS-11 is about rotations alone."""
    assert load_experiment("base", ["model.d_model=120", "model.position=alibi"]).model.key_size == 15
