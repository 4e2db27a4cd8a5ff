"""Putting the engine somewhere: making its environment, checking the tree, starting it on one machine.

Nothing of the engine itself belongs here; `streams` and below never import this package.
"""
