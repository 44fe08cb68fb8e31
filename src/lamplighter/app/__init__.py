"""The composition root: builds every object from a workspace, and offers each command as one function.

It never decides anything: what it builds does.
"""
