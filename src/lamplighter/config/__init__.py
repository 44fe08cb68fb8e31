"""Turns lamplighter.toml into each part's settings; the parts never see the file."""
