"""Runs that others made: ours of another machine, and those of W&B, Lightning and TensorBoard. Torch-free."""
