"""GitHub's refusals as errors of `lifecycle.core.errors`."""
