"""Names of `lifecycle.api`: those that it exports are there, and any other is an error."""

from __future__ import annotations

import warnings

import pytest

from lifecycle import api


def test_every_exported_name_is_there() -> None:
    """Those too that are imported when they are first used; none of them warns."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert all(getattr(api, name) is not None for name in api.__all__)


def test_an_unknown_name_is_an_error() -> None:
    """A misspelt name is what it is in any module: an AttributeError that names it, and no warning."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(AttributeError, match=r"module 'lifecycle\.api' has no attribute 'Sai'"):
            _ = api.Sai
