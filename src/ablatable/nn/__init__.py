"""The Transformer as injected parts: a file per part, a small class per choice. Imports no torch itself."""
