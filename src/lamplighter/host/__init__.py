"""The computer: clock, files, processes, database, network; the only place that touches them."""
