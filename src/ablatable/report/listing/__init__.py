"""`ablatable runs`: every run there is, filtered by its settings and numbers. Torch-free and quick."""
