"""The one way a number becomes text in a table."""

from __future__ import annotations

from typing import cast

MINUS = "\N{MINUS SIGN}"

RULE = (
    "Numbers are rounded as Python's format() does it: the stored binary value to the nearest, an exact tie "
    "to the even digit (27.25 is shown as 27.2 and 27.35 as 27.4 to one decimal)."
)

_HUGE = 1e7
"""A diverged model's perplexity has hundreds of digits, and none of them says anything."""


def fixed(value: float, digits: int) -> str:
    """``digits`` decimals, a real minus sign, never one before a zero; 2.35e+30 where digits are of no use."""
    text = f"{value:.{digits}f}" if abs(value) < _HUGE else f"{value:.2e}"
    if text.startswith("-"):
        text = text[1:] if float(text) == 0.0 else MINUS + text[1:]
    return text


def signed(value: float, digits: int) -> str:
    """As `fixed`, with a plus before what is shown as more than zero."""
    text = fixed(value, digits)
    return f"+{text}" if value > 0 and float(text) != 0.0 else text


def setting(value: object) -> str:
    """A setting's value: 100000 as the paper's 100K, booleans as yes and no, None as a dash."""
    if value is None:
        return "\N{EN DASH}"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int) and value >= 100_000 and value % 1000 == 0:
        return f"{value // 1000}K"
    if isinstance(value, tuple):
        return ", ".join(setting(item) for item in cast(tuple[object, ...], value))
    return str(value)
