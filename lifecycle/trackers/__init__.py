"""What keeps tasks: GitHub's issues, a database next to the code, memory; and a suite for all of them."""
