"""The Transformer as injected parts: one file per part, one small class per choice. Importing this needs no torch."""
