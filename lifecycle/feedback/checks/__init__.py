"""Failed checks: their logs, the important lines, and the reports about them."""
