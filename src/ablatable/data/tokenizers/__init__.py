"""Tokenizers: one file per kind, all behind the ``Tokenizer`` protocol."""
