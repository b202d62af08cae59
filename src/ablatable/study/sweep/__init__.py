"""Sweeps: a search as a file, its space read off the axes, its points proposed by Optuna or enumerated by us."""
