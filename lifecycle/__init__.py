"""Claim to close for coding agents on GitHub.

The public API is what `lifecycle.api` exports; docs/api.md shows it at work. Importing this package
imports nothing else: the hooks' quiet path depends on that.
"""

__version__ = "0.1.0"
