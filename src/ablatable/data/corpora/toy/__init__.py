"""A synchronous English-German grammar of our own: one abstract sentence, spoken in both languages."""
