"""The paper's learning rate by update count."""

import pytest

from ablatable.config.training import Training
from ablatable.training.schedule import learning_rate


@pytest.mark.parametrize(
    ("update", "d_model", "warmup", "factor", "expected"),
    [
        (1, 512, 4000, 1.0, 1.746928e-7),
        (2, 512, 4000, 1.0, 3.493856e-7),
        (3, 512, 4000, 1.0, 5.240784e-7),
        (2000, 512, 4000, 1.0, 3.493856e-4),
        (4000, 512, 4000, 1.0, 6.987712e-4),
        (8000, 512, 4000, 1.0, 4.941059e-4),
        (8001, 512, 4000, 1.0, 4.940750e-4),
        (100_000, 512, 4000, 1.0, 1.397542e-4),
        (4000, 256, 4000, 1.0, 9.882118e-4),
        (4000, 512, 4000, 2.0, 1.397542e-3),
        (16_000, 512, 16_000, 1.0, 3.493856e-4),
    ],
)
def test_opt_01_opt_02_trn_03_values(update: int, d_model: int, warmup: int, factor: float, expected: float) -> None:
    train = Training(warmup=warmup, learning_rate_factor=factor)
    assert learning_rate(update, train, d_model) == pytest.approx(expected, rel=1e-6)


def test_there_is_no_update_zero() -> None:
    with pytest.raises(ValueError, match="count from 1"):
        learning_rate(0, Training(), 512)
