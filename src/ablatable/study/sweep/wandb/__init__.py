"""W&B's sweep files: ours written as one, and one read as ours. Neither needs a W&B client."""
