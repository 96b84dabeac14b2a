"""What works here, what does not, and what mends it: reads everything, and writes to nobody else."""
