"""What was clarified, and what analyst, architect and tester say of a run's stories."""
