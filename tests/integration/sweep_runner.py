"""`python sweep_runner.py SWEEP TARGET [STORAGE] [WORKERS]`: `ablatable sweep run`, its trials cheap."""

from __future__ import annotations

import sys

if __name__ == "__main__":
    from ablatable.launch.searching import Calls
    from ablatable.launch.sweep import run_sweep
    from ablatable.launch.sweep_progress import Silent
    from ablatable.study.sweep.load import load_sweep

    name, target, storage, workers = (*sys.argv[1:], "", "")[:4]
    calls = Calls(execute=f"cheap_trial:{target}", prepare=None, preload=("cheap_trial",), heartbeat=1)
    made = run_sweep(
        load_sweep(name),
        storage=storage or None,
        workers=int(workers or 1),
        trials=None,
        progress=Silent(),
        say=print,
        calls=calls,
    )
    sys.exit(made.exit_code)
