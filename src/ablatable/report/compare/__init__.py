"""`ablatable compare`: two runs or more side by side. The first is the baseline that the others are compared with."""
