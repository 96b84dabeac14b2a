"""What keeps tasks: GitHub's issues, a database beside the code, memory; and the suite for all of them."""
