"""The design space, declared once: typed tree, axes, YAML, overrides, scales and identity. Never imports torch."""
