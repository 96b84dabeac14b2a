"""bd: tasks in a database beside the code, spoken to by its own program."""
