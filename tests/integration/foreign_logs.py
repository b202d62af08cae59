"""Logs as other people's programs leave them: the real clients, in processes of their own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

WANDB = """
import os, signal, sys
import wandb
config = {"optimizer": {"lr": 0.001}, "n_layers": 6, "seed": 3}
run = wandb.init(project="lab", name=sys.argv[1], mode="offline", config=config,
                 settings=wandb.Settings(silent=True, x_transaction_log_flush_interval=0.1))
for step in range(40):
    run.log({"train_loss": 5 - 0.05 * step, "global_step": 10 * step})
    if step % 10 == 9:
        run.log({"val_loss": 4 - 0.03 * step, "val_bleu": 0.2 + 0.001 * step, "global_step": 10 * step})
if sys.argv[2] == "kill":
    import time
    time.sleep(1.5)
    os.kill(os.getpid(), signal.SIGKILL)
run.finish()
"""

LOGGERS = """
from pytorch_lightning.loggers import CSVLogger
from torch.utils.tensorboard import SummaryWriter
for version in (0, 1):
    logger = CSVLogger("csv", name="exp", version=version)
    logger.log_hyperparams({"lr": 0.1, "layers": 6, "seed": 1 + version})
    for step in range(10):
        logger.log_metrics({"train_loss": 5 - 0.1 * step}, step=10 * step)
        if step % 5 == 4:
            logger.log_metrics({"val_nll": 4 - 0.1 * step + version, "val_bleu": 10.0 + step}, step=10 * step)
    logger.save()
writer = SummaryWriter("tb/run")
for step in range(20):
    writer.add_scalar("val/ppl", 30.0 - step, 100 * step)
    writer.add_scalar("train/loss", 5 - 0.1 * step, 100 * step)
writer.close()
"""


def log_wandb(folder: Path, name: str, end: str = "finish") -> Path:
    """An offline run that finishes, or is killed with SIGKILL; returns its file."""
    folder.mkdir(parents=True, exist_ok=True)
    before = set(folder.glob("wandb/offline-run-*/*.wandb"))
    subprocess.run(
        [sys.executable, "-c", WANDB, name, end],
        cwd=folder,
        env=os.environ | {"WANDB_DIR": str(folder)},
        capture_output=True,
        timeout=120,
        check=False,  # the killed one can't end well
    )
    (made,) = set(folder.glob("wandb/offline-run-*/*.wandb")) - before
    return made


def log_loggers(folder: Path) -> None:
    """``csv/exp/version_{0,1}`` of a CSVLogger and ``tb/run`` of a SummaryWriter."""
    folder.mkdir(parents=True, exist_ok=True)
    subprocess.run([sys.executable, "-c", LOGGERS], cwd=folder, capture_output=True, timeout=120, check=True)
