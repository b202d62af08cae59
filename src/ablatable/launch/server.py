"""The warm server: a process that has imported everything heavy once and is forked for each run."""

from __future__ import annotations

import importlib.util
import multiprocessing
import os
import sys
from collections.abc import Generator, Iterable
from contextlib import contextmanager
from multiprocessing import forkserver
from multiprocessing.context import ForkServerContext

RUNNER_VARIABLE = "ABLATABLE_RUNNER"
"""Tells the server which process it belongs to (`ablatable.launch.warm` reads it)."""

HEAVY = (
    "torch",
    "pytorch_lightning",
    "sentencepiece",
    "sacrebleu",
    "sacremoses",
    "ablatable.training.run",
    "ablatable.cli.main",
)
"""What a run needs and takes seconds to import. `cli.main` is there because multiprocessing repeats the
imports of the console script in every process it starts."""

WANDB = ("wandb", "wandb.apis.public", "wandb.sdk.launch", "wandb.sdk.launch.inputs.internal", "pandas")
"""The client, and what a run with it would import: pandas, where installed, to see that a table is not of its kind."""


def preload_list(wandb: bool) -> list[str]:
    """Modules the server imports before its first fork; W&B only where a run wants it and it is installed."""
    there = wandb and importlib.util.find_spec("wandb") is not None
    return ["ablatable.launch.warm", *HEAVY, *(WANDB if there else ())]


def start(preload: Iterable[str]) -> ForkServerContext:
    """Start the server, or find it running; returns at once, the imports go on beside the caller.

    Must be called from the main thread: the kernel ties the server to the thread that started it.
    """
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(list(preload))
    path = os.pathsep.join(filter(None, sys.path))  # before Python 3.12.3 the server ignores our sys.path
    with _exported({RUNNER_VARIABLE: str(os.getpid()), "PYTHONPATH": path}):
        forkserver.ensure_running()
    return context


@contextmanager
def _exported(variables: dict[str, str]) -> Generator[None]:
    """Set environment variables for a process started inside."""
    before = {name: os.environ.get(name) for name in variables}
    os.environ.update(variables)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value
