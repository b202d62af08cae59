"""`ablatable translate`: a trained run as a filter from standard input to standard output."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from itertools import islice
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from ablatable.errors import InputError

if TYPE_CHECKING:
    from ablatable.config.decoding import Decoding

LINES_AT_ONCE = 256


def translate(
    run: Annotated[str, typer.Argument(help="A run's id, or enough of its beginning.")],
    beam: Annotated[
        int | None,
        typer.Option(min=1, max=1000, help="Hypotheses kept, 1 is greedy; the run's own otherwise."),
    ] = None,
    length_penalty: Annotated[
        float | None,
        typer.Option(min=-5, max=10, help="alpha of the length penalty; the run's own otherwise."),
    ] = None,
    lines_at_once: Annotated[
        int | None,
        typer.Option(min=1, help=f"Lines read before any is translated: 1 at a terminal, {LINES_AT_ONCE} else."),
    ] = None,
    accelerator: Annotated[Literal["auto", "cpu", "cuda"], typer.Option(help="Where to translate.")] = "auto",
) -> None:
    """Translate standard input to standard output, one sentence a line."""
    from ablatable.config.locate import cache_folder, runs_folder
    from ablatable.record.foreign import refuse_without_weights
    from ablatable.record.lookup import find_run

    folder = find_run(runs_folder(), run)  # before torch loads: a misspelt id is answered at once
    refuse_without_weights(folder)
    from ablatable.decoding.translate import translate_lines
    from ablatable.training.load import load_run

    loaded = load_run(folder, cache_folder())
    decode = _decode(loaded.experiment.decode, beam, length_penalty)
    loaded.model.to(_device(accelerator))
    lines = read_stdin()
    at_once = lines_at_once or (1 if sys.stdin.isatty() else LINES_AT_ONCE)
    while block := list(islice(lines, at_once)):
        translated = translate_lines(
            loaded.model,
            block,
            loaded.source_tokenizer,
            loaded.target_tokenizer,
            decode,
            precision=loaded.experiment.train.precision,
        )
        sys.stdout.buffer.write("".join(f"{line}\n" for line in translated).encode())
        sys.stdout.buffer.flush()


def read_stdin() -> Iterator[str]:
    """Yield lines of standard input as they come, split at line feeds only.

    Raises:
        InputError: a line is not UTF-8.
    """
    for number, line in enumerate(iter(sys.stdin.buffer.readline, b""), start=1):
        try:
            yield line.decode().removesuffix("\n").removesuffix("\r")
        except UnicodeDecodeError:
            raise InputError(f"line {number} of standard input is not UTF-8; convert it first") from None


def _decode(own: Decoding, beam: int | None, length_penalty: float | None) -> Decoding:
    from dataclasses import replace

    decode = replace(own, beam=own.beam if beam is None else beam)
    if length_penalty is None:
        return decode
    if decode.beam == 1:
        raise InputError("--length-penalty changes nothing with a beam of 1; raise --beam or leave it out")
    return replace(decode, length_penalty=length_penalty)


def _device(accelerator: Literal["auto", "cpu", "cuda"]) -> str:
    import torch

    present = torch.cuda.is_available()
    if accelerator == "cuda" and not present:
        raise InputError("--accelerator cuda: this process sees no CUDA device; use --accelerator cpu")
    return "cuda" if present and accelerator != "cpu" else "cpu"
