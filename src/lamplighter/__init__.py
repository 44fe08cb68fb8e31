"""lamplighter keeps scheduled output going out and says so, loudly, when it stops."""

__version__ = "0.1.0"
