"""The four formats by name, and the files a published table consists of."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ablatable.errors import InputError, nearest
from ablatable.report.model import Table


def _markdown(table: Table) -> str:
    from ablatable.report.markdown import render

    return render(table)


def _latex(table: Table) -> str:
    from ablatable.report.latex import render

    return render(table)


def _csv(table: Table) -> str:
    from ablatable.report.csv import render

    return render(table)


def _html(table: Table) -> str:
    from ablatable.report.html import render

    return render(table)


def _json(table: Table) -> str:
    import json
    from dataclasses import asdict

    return json.dumps(asdict(table), indent=1, ensure_ascii=False, allow_nan=False) + "\n"


FORMATS: dict[str, Callable[[Table], str]] = {"md": _markdown, "tex": _latex, "csv": _csv, "html": _html}
"""What a published table consists of: file ending -> renderer."""

RENDERERS: dict[str, Callable[[Table], str]] = {**FORMATS, "json": _json}
"""Every format there is."""


def formats(text: str) -> list[str]:
    """Read ``md,tex``. Raises InputError for a format there is not."""
    names = [name.strip() for name in text.split(",") if name.strip()]
    for name in names:
        if name not in RENDERERS:
            raise InputError(
                f"--format: unknown format '{name}'{nearest(name, RENDERERS)} (known: {', '.join(RENDERERS)})"
            )
    if not names:
        raise InputError(f"--format: name at least one of {', '.join(RENDERERS)}")
    return list(dict.fromkeys(names))


def files(table: Table, names: Sequence[str] = tuple(FORMATS)) -> dict[str, str]:
    """File name (``table.md``) -> content."""
    return {f"table.{name}": RENDERERS[name](table) for name in names}
