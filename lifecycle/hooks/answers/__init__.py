"""What each hook answers: one file an entrypoint, named as the script in `hooks/`, each with `answer`."""
