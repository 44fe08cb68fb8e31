"""When a job is due, and how the system's scheduler is told; decides, never runs a job."""
