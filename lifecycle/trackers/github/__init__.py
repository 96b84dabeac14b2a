"""GitHub's issues as a tracker."""
