"""Asks every part whether it can work: what is ok, what is wrong and how to mend it, what nobody could check."""
