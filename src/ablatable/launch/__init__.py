"""Processes: how many runs fit on this machine, one process a run, and what a person sees meanwhile."""
