"""A rank's exception reaches the run as text and must come out as what it was."""

import traceback

import pytest

from ablatable.errors import InputError, RunFailed
from ablatable.training.fit import told_by_rank
from ablatable.training.module import Diverged


@pytest.mark.parametrize("error", [Diverged("the loss: nan"), RunFailed("the disk is full: x"), InputError("no: y")])
def test_our_own_exceptions_keep_class_and_message(error: Exception) -> None:
    trace = f"\n\n-- Process 1 terminated with the following error:\n{''.join(traceback.format_exception(error))}"
    told = told_by_rank(trace)
    assert type(told) is type(error)
    assert str(told) == str(error)


def test_any_other_exception_is_left_as_it_is() -> None:
    assert told_by_rank("Traceback ...\nRuntimeError: Connection closed by peer\n") is None
