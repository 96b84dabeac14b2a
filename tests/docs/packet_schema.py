"""The JSON Schema of a packet of failures, written from the values that it is made of."""

from __future__ import annotations

import json
from typing import Any

import msgspec

from lifecycle.core.values.failed_checks import CheckRemark
from lifecycle.feedback.checks.packet import CheckFailure, FailurePacket
from tests.docs.overview_schema import said_of
from tests.docs.pages import ROOT

SCHEMA = ROOT / "lifecycle" / "feedback" / "checks" / "packet.schema.json"

_ABOUT = "What failed on the head of a pull request, as `lifecycle feedback --json` prints it."


def schema() -> str:
    """The schema as it is shipped."""
    (_,), kinds = msgspec.json.schema_components([FailurePacket], ref_template="#/$defs/{name}")
    whole: dict[str, Any] = kinds.pop("FailurePacket")
    made = {one.__name__: one for one in (FailurePacket, CheckFailure, CheckRemark)}
    # All of it is printed, whatever may be left out in Python.
    for kind in (whole, *kinds.values()):
        kind["required"] = list(kind["properties"])
        about = said_of(made[kind["title"]])
        kind["description"] = kind.get("description", "").partition("\n")[0]
        for name, one in kind["properties"].items():
            one.pop("default", None)
            one.update({"description": about[name]} if name in about else {})
    document = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        **whole,
        "description": _ABOUT,
        "$defs": kinds,
    }
    return f"{json.dumps(document, indent=2)}\n"
