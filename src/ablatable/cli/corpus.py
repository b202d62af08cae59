"""`ablatable corpus`: list the corpora, fetch one, print its card."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

if TYPE_CHECKING:
    from ablatable.data.corpora import Card, Corpus

app = typer.Typer(help="Parallel text: what there is, and how to get it.", no_args_is_help=True)
Format = Annotated[Literal["text", "json"], typer.Option("--format", help="How to print.")]
_EXAMPLES = 3


@app.command("list")
def list_corpora(format: Format = "text") -> None:
    """Every corpus by name, by what it needs: what it is, whether it is in the cache."""
    from ablatable.config.catalogue import CORPORA, NEEDS

    rows = [{"name": name, **_entry(name)} for name in CORPORA]
    if format == "json":
        typer.echo(json.dumps(rows, indent=1, ensure_ascii=False))
        return
    width = max(len(row["name"]) for row in rows)
    for needs, meaning in NEEDS.items():
        typer.echo(f"{meaning}:")
        for row in rows:
            if row["needs"] == needs:
                typer.echo(f"  {row['name']:<{width}}  {row['state']:<13}  {row['summary']}")


_STATES = {"nothing": "to be made", "apt": "to be fetched", "hub": "to be fetched", "files": "your files"}


def _entry(name: str) -> dict[str, Any]:
    from ablatable.config.catalogue import CORPORA
    from ablatable.config.data import Data
    from ablatable.config.locate import cache_folder
    from ablatable.data.corpora import local_fingerprint

    entry = CORPORA[name]
    local = None if name == "files" else local_fingerprint(Data(corpus=name), cache_folder())
    return {
        "source": entry.source,
        "target": entry.target,
        "summary": entry.summary,
        "needs": entry.needs,
        "state": "in the cache" if local else _STATES[entry.needs],
        "fingerprint": local,
        "expected_fingerprint": entry.fingerprint,
    }


@app.command()
def get(
    name: Annotated[str, typer.Argument(help="Name of a corpus, as `ablatable corpus list` shows it.")],
    settings: Annotated[
        list[str] | None,
        typer.Argument(help="For the corpus `files`: files_languages=en-de files_source_train=PATH ..."),
    ] = None,
    format: Format = "text",
) -> None:
    """Fetch, clean, split and fingerprint a corpus, and print its card. Does nothing twice."""
    from ablatable.config.locate import cache_folder
    from ablatable.data.corpora import get as get_corpus

    corpus = get_corpus(_data(name, settings or []), cache_folder())
    if format == "json":
        typer.echo(json.dumps({"folder": str(corpus.folder), **corpus.card.to_dict()}, indent=1, ensure_ascii=False))
        return
    typer.echo(f"folder       {corpus.folder}")
    for line in card_lines(corpus.card):
        typer.echo(line)
    for line in _example_lines(corpus):
        typer.echo(line)


def _data(name: str, settings: list[str]) -> Any:
    from ablatable.config.catalogue import check_corpus
    from ablatable.config.layers import from_overrides
    from ablatable.config.load import resolve
    from ablatable.errors import InputError

    check_corpus(name, "corpus get")
    if settings and name != "files":
        raise InputError(f"corpus get: only the corpus 'files' takes settings; remove {settings[0]}")
    overrides = [f"data.{setting.removeprefix('data.')}" for setting in settings]
    return resolve([], overrides=from_overrides([f"data.corpus={name}", *overrides], "corpus get")).data


def card_lines(card: Card) -> list[str]:
    """Return the card of a corpus as lines of text."""
    lines = [
        f"corpus       {card.name} ({card.source} to {card.target})",
        f"origin       {card.origin}",
        f"licence      {card.licence}",
    ]
    lines += [f"package      {name} {version}" for name, version in card.packages.items()]
    width = max((len(what) for what, _ in card.steps), default=0)
    lines += [f"step         {what:<{width}}  {count:>9,}" for what, count in card.steps]
    lines.append(f"{'split':<12} {'pairs':>9} {card.source + ' words':>12} {card.target + ' words':>12}  repeated")
    for split, facts in card.splits.items():
        lines.append(
            f"{split:<12} {facts.pairs:>9,} {facts.source_words:>12,} {facts.target_words:>12,} {facts.duplicates:>9,}"
        )
    for split, overlap in card.overlap.items():
        lines.append(
            f"overlap      {split}: {overlap.pairs} pairs ({overlap.share:.1%}) "
            f"and {overlap.sources} source sentences are in training"
        )
    lines += [f"note         {note}" for note in card.notes]
    tested = {None: "", card.fingerprint: " (as tested)"}.get(
        card.expected_fingerprint, f" (tested with {card.expected_fingerprint})"
    )
    return [*lines, f"fingerprint  {card.fingerprint}{tested}"]


def _example_lines(corpus: Corpus) -> list[str]:
    lines = ["examples"]
    for source, target in corpus.pairs("valid")[:_EXAMPLES]:
        lines += [f"  {corpus.source}  {source}", f"  {corpus.target}  {target}"]
    return lines
