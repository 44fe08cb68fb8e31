"""Runs any job: lock, outcome, record; knows nothing of what the job makes."""
