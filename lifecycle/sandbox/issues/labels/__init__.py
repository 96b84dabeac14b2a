"""Labels of a repository and of its issues."""
