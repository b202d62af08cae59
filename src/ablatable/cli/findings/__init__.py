"""What `ablatable doctor` asks, by what it is about.

Imports stand in the functions: `ablatable --help` loads these files.
"""
