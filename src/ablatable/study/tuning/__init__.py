"""Fair comparison: every row of a table is searched with the same budget before its seeds run."""
