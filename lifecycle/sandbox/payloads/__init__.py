"""REST objects in GitHub's published shapes (https://docs.github.com/rest), one file a subject."""
