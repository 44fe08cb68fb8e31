"""Writes the words of a feature from its fact sheets, one module a tool; never sees a shop's raw text."""
