"""What a run leaves behind: its record, its events, its provenance stamp. Torch-free."""
