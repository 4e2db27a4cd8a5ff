"""Scenarios played on a running engine, and what came of them as tables and JSON."""
