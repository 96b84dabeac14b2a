"""What each hook answers: one file for each script in `hooks/`, with its name and a function `answer`."""
