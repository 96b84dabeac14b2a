"""The beginning of a run, what was clarified, and what analyst, architect and tester say of its stories."""
