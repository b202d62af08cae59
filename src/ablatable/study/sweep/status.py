"""Where a sweep stands: its trials by state, the best so far, what runs."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from ablatable.record.events import read_events
from ablatable.record.store import EVENTS_FILE, Store
from ablatable.study.sweep import trials as kept
from ablatable.study.sweep.ends import End, at_an_end
from ablatable.study.sweep.schema import Budget, Sweep
from ablatable.study.sweep.trials import Tried, counts, spent, used_up


def front(trials: Sequence[Tried], sweep: Sweep) -> list[Tried]:
    """The best trials: of one objective the best, of several those that no other beats in all; by their numbers.

    Of equal trials the earliest counts.
    """
    done = [trial for trial in trials if trial.state == "completed"]
    signs = [1.0 if objective.direction == "lower" else -1.0 for objective in sweep.objectives]
    merits = {trial.number: [sign * value for sign, value in zip(signs, trial.values, strict=True)] for trial in done}
    return [trial for trial in done if not any(_beats(merits, other.number, trial.number) for other in done)]


def _beats(merits: dict[int, list[float]], one: int, other: int) -> bool:
    mine, its = merits[one], merits[other]
    if mine == its:
        return one < other
    return all(a <= b for a, b in zip(mine, its, strict=True))


def ends(trials: Sequence[Tried], sweep: Sweep) -> list[End]:
    """Where the best trial of one objective lies at an end of what was tried; of several objectives nothing is said."""
    best = front(trials, sweep)
    if len(sweep.objectives) > 1 or not best:
        return []
    return at_an_end(best[0].point, [trial.point for trial in trials if trial.state in kept.ENDED])


def counts_line(trials: Sequence[Tried], budget: Budget) -> str:
    """`12 completed, 2 running, 1 failed of 40 trials`."""
    said = ", ".join(f"{count} {state}" for state, count in counts(trials).items() if count) or "no trial yet"
    return said + ("" if budget.trials is None else f" of {budget.trials}")


def best_line(trials: Sequence[Tried], sweep: Sweep) -> str:
    """`; best valid.nll 3.2140 (trial 7)`, empty before the first completed one."""
    best = front(trials, sweep)
    if not best:
        return ""
    if len(sweep.objectives) > 1:
        return f"; {len(best)} on the front"
    values = zip(sweep.objectives, best[0].values, strict=True)
    return "; best " + "".join(f"{one.key} {value:.5g} (trial {best[0].number})" for one, value in values)


def to_json(trials: Sequence[Tried], sweep: Sweep, store: Store) -> dict[str, Any]:
    """The status as data for scripts."""
    so_far = spent(trials, time.time())
    return {
        "sweep": sweep.name,
        "scale": sweep.scale,
        "objectives": [{"metric": one.key, "better": one.direction} for one in sweep.objectives],
        "counts": counts(trials),
        "spent": {"trials": so_far.trials, "hours": so_far.hours, "flops": so_far.flops},
        "ended_by": used_up(sweep.budget, so_far),
        "repeatable": not _beside(trials),
        "best": [trial.number for trial in front(trials, sweep)],
        "best_at_an_end": [asdict(end) for end in ends(trials, sweep)],
        "trials": [_trial_json(trial, store) for trial in trials],
    }


def _trial_json(trial: Tried, store: Store) -> dict[str, Any]:
    return {
        "number": trial.number,
        "state": trial.state,
        "point": trial.point,
        "values": list(trial.values) or None,
        "cause": trial.cause,
        "runs": trial.runs,
        "deaths": trial.attribute(kept.DEATHS) or 0,
        "beside": trial.attribute(kept.BESIDE) or [],
        "progress": _progress(trial, store) if trial.state == "running" else None,
    }


def best_json(trial: Tried, sweep: Sweep) -> dict[str, Any]:
    """One completed trial as data for scripts."""
    values = {one.key: value for one, value in zip(sweep.objectives, trial.values, strict=True)}
    return {"number": trial.number, "point": trial.point, "values": values, "runs": trial.runs}


def to_text(trials: Sequence[Tried], sweep: Sweep, store: Store) -> str:
    """The status as a person reads it."""
    lines = [f"{sweep.name}: {counts_line(trials, sweep.budget)}"]
    ended = used_up(sweep.budget, spent(trials, time.time()))
    if ended is not None:
        lines.append(f"the budget is used up: {ended}")
    best = front(trials, sweep)
    if best:
        lines.append("\nbest" if len(sweep.objectives) == 1 else "\nfront: no other trial beats these in everything")
        lines += [f"  {trial_line(trial, sweep)}" for trial in best]
        lines += [f"  {end}" for end in ends(trials, sweep)]
    running = [trial for trial in trials if trial.state == "running"]
    if running:
        lines.append("\nrunning")
        lines += [f"  trial {trial.number}: {_said(_progress(trial, store))}; {_point(trial)}" for trial in running]
    for state in ("failed", "skipped"):
        ended_so = [trial for trial in trials if trial.state == state]
        if ended_so:
            lines.append(f"\n{state}")
            lines += [f"  trial {trial.number}: {trial.cause or 'no cause was told'}" for trial in ended_so]
    if _beside(trials):
        lines.append(
            "\nTrials ran side by side, so which points came up depended on timing: another search would not repeat "
            "them. Each trial can be repeated alone."
        )
    return "\n".join(lines)


def trial_line(trial: Tried, sweep: Sweep) -> str:
    """`trial 7: valid.nll 3.2140; model.heads=4`."""
    values = ", ".join(f"{one.key} {value:.5g}" for one, value in zip(sweep.objectives, trial.values, strict=True))
    return f"trial {trial.number}: {values}; {_point(trial)}"


def _point(trial: Tried) -> str:
    return ", ".join(
        f"{path}={value:.4g}" if isinstance(value, float) else f"{path}={value}" for path, value in trial.point.items()
    )


def _beside(trials: Sequence[Tried]) -> bool:
    return any(trial.attribute(kept.BESIDE) for trial in trials)


def _progress(trial: Tried, store: Store) -> dict[str, Any]:
    """What the events of its runs tell: which seed of how many, and how far that one is."""
    begun = [id for id in trial.runs if (store.folder(id) / EVENTS_FILE).exists()]
    events = read_events(store.folder(begun[-1]) / EVENTS_FILE) if begun else []
    told = [event for event in events if event.get("kind") == "train"]
    latest = told[-1] if told else dict[str, Any]()
    return {
        "seed": len(begun),
        "seeds": len(trial.runs),
        "update": latest.get("update", 0),
        "updates": latest.get("updates"),
        "owner": trial.attribute(kept.OWNER),
    }


def _said(progress: dict[str, Any]) -> str:
    if not progress["updates"]:
        return "starting"
    seed = f"seed {progress['seed']} of {progress['seeds']}, " if progress["seeds"] > 1 else ""
    return f"{seed}update {progress['update']} of {progress['updates']}"
