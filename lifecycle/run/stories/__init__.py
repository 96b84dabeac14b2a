"""What analyst, architect and tester say of a run's stories, and what was clarified before they do."""
