"""Studies: a table as a file, its rows resolved to runs, what they will cost and where they stand."""
