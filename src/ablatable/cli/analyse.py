"""`ablatable analyse`: measurements and pictures that explain what attention and positions do."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

import typer

app = typer.Typer(no_args_is_help=True, help="Measurements and pictures: scores, attention maps, positions.")

Format = Annotated[Literal["text", "json"], typer.Option(help="What to print; json: everything that was measured.")]
Output = Annotated[
    Path | None,
    typer.Option(
        help="Folder for data.json and the pictures (PNG and SVG); otherwise analysis/KIND in the run's folder, or in "
        "results/ where no run is named."
    ),
]

_SENTENCES = 64
"""Development sentences that `scores` has a run read."""


@app.command()
def scores(
    run: Annotated[
        str | None, typer.Option(help="Look at this run too: its id, enough of its beginning, or its folder.")
    ] = None,
    sentences: Annotated[
        int | None, typer.Option(min=1, help="Development sentences the run reads; 64 otherwise.")
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Seed of what is drawn.")] = 1,
    output: Output = None,
    format: Format = "text",
) -> None:
    """The variance of q·k against d_k, and what softmax makes of it, with and without 1/sqrt(d_k) (footnote 4)."""
    from ablatable.config.locate import cache_folder
    from ablatable.errors import InputError

    if run is None and sentences is not None:
        raise InputError("--sentences is what the run reads; name one with --run, or leave --sentences out")
    folder = None if run is None else _attending(run)
    from ablatable.analysis.scores import make

    place = _output(output, folder, "scores")
    made = make.measure(seed, folder, cache_folder(), sentences or _SENTENCES)
    _print(made, make.to_text(made), make.write(made, place), format)


@app.command()
def attention(
    run: Annotated[str, typer.Argument(help="A run's id, enough of its beginning, or its folder.")],
    sentence: Annotated[str | None, typer.Option(help="A source sentence.")] = None,
    index: Annotated[int | None, typer.Option(min=1, help="A development sentence by its number, from 1.")] = None,
    target: Annotated[str | None, typer.Option(help="Target to read; otherwise the run's own translation.")] = None,
    reference: Annotated[bool, typer.Option("--reference", help="Read the reference of --index as target.")] = False,
    layer: Annotated[int | None, typer.Option(min=1, help="Draw this layer alone, from 1.")] = None,
    head: Annotated[int | None, typer.Option(min=1, help="Draw the heads of this number alone, from 1.")] = None,
    output: Output = None,
    format: Format = "text",
) -> None:
    """Where every head looks in a sentence: maps of the weights, and entropy, distance and masses of each head."""
    from ablatable.config.locate import cache_folder

    _check_sentence(sentence, index, target, reference)
    folder = _attending(run)
    _check_chosen(folder, layer, head)
    from ablatable.analysis.attention import make, maps

    if index is not None:
        chosen = maps.of_index(folder, cache_folder(), index, target, reference)
    else:
        chosen = maps.given(sentence or "", target)
    place = _output(output, folder, "attention")
    made = maps.measure(folder, cache_folder(), chosen)
    _print(made, make.to_text(made), make.write(made, place, layer, head), format)


@app.command()
def positions(
    run: Annotated[
        str | None, typer.Option(help="Look at this run's own: its id, enough of its beginning, or its folder.")
    ] = None,
    count: Annotated[
        int, typer.Option("--positions", min=4, max=1024, help="Positions, or offsets either way, to show.")
    ] = 128,
    seed: Annotated[int, typer.Option(min=0, help="Seed of what is drawn.")] = 1,
    output: Output = None,
    format: Format = "text",
) -> None:
    """How alike two positions are by their offset, the rotation property of sinusoids, RoPE's decay, biases."""
    from ablatable.config.locate import cache_folder

    folder = None if run is None else _placing(run)
    from ablatable.analysis.positions import make

    place = _output(output, folder, "positions")
    made, tables = make.measure(folder, cache_folder(), count, seed)
    _print(made, make.to_text(made), make.write(made, tables, place), format)


def _check_sentence(sentence: str | None, index: int | None, target: str | None, reference: bool) -> None:
    from ablatable.errors import InputError

    if (sentence is None) == (index is None):
        raise InputError(
            "name one sentence: its text with --sentence, or its number in the development text with --index"
        )
    if reference and index is None:
        raise InputError("--reference is the translation of a development sentence; name it with --index")
    if reference and target is not None:
        raise InputError("--reference and --target both name the target to read; keep one")


def _attending(run: str) -> Path:
    """The folder of a run with attention and weights, before torch loads."""
    from ablatable.analysis.runs import check_attention, check_weights, experiment_of

    folder = _folder(run)
    check_attention(folder, experiment_of(folder))
    check_weights(folder)
    return folder


def _check_chosen(folder: Path, layer: int | None, head: int | None) -> None:
    from ablatable.analysis.runs import check_chosen, experiment_of

    check_chosen(folder, experiment_of(folder), layer, head)


def _placing(run: str) -> Path:
    """The folder of a run with positions and weights, before torch loads."""
    from ablatable.analysis.runs import check_positions, check_weights, experiment_of

    folder = _folder(run)
    check_positions(folder, experiment_of(folder))
    check_weights(folder)
    return folder


def _folder(run: str) -> Path:
    """A run's folder by its path, its id or the beginning of its id."""
    from ablatable.config.locate import runs_folder
    from ablatable.record.lookup import run_folder

    return run_folder(runs_folder(), run)


def _output(given: Path | None, run: Path | None, kind: str) -> Path:
    """Where the numbers and pictures go; refused before anything is measured where they cannot."""
    from ablatable.config.locate import results_folder
    from ablatable.record.files import make_writable

    place = given or (results_folder() if run is None else run) / "analysis" / kind
    make_writable(place, "name another folder with --output")
    return place


def _print(made: Any, text: str, paths: list[Path], format: str) -> None:
    from ablatable.analysis.output import encode

    if format == "json":
        typer.echo(encode(made), nl=False)
        return
    typer.echo(text)
    for path in paths:
        typer.echo(str(path))
