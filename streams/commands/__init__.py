"""The command line, one module a group of commands.

A module's functions name what a person may say and hand it on. Engines are imported inside them: `--help` must answer
at once, and importing every client takes seconds.
"""
