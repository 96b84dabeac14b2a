"""GitHub's refusals as errors of ours."""
