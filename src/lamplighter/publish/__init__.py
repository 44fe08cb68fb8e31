"""Publishes ready features, each at most once, and records it; never makes or changes one."""
