"""Downloads of logs behind a redirect: an address at another host that needs no token for a minute.

GitHub stores them in a service that refuses an Authorization header.
Sources: https://docs.github.com/rest/actions/workflow-jobs#download-job-logs-for-a-workflow-run and
https://learn.microsoft.com/rest/api/storageservices/blob-service-error-codes
"""

from __future__ import annotations

import secrets
import time

from werkzeug.wrappers import Request, Response

from lifecycle.sandbox.repositories.state import Link, World
from lifecycle.sandbox.wire.call import Call

PREFIX = "/_downloads/"
SECONDS = 60
HOSTS = {"127.0.0.1": "localhost", "localhost": "127.0.0.1"}
"""Another name of this machine, since a client removes its token if the host changes."""


def offer(call: Call, data: bytes, content_type: str) -> str:
    """Keep `data` for a minute and return the address of the download."""
    path = f"{PREFIX}{secrets.token_urlsafe(16)}"
    call.world.links[path] = Link(data, content_type, time.monotonic() + SECONDS)
    scheme, _, place = call.base.partition("://")
    host, colon, port = place.partition("/")[0].partition(":")
    return f"{scheme}://{HOSTS.get(host, 'actions-results.localhost')}{colon}{port}{path}"


def expire(world: World) -> int:
    """Let every link expire, and return how many there are."""
    number = len(world.links)
    world.links = {
        path: Link(b"", link.content_type, float("-inf")) for path, link in world.links.items()
    }
    return number


def respond(world: World, request: Request) -> Response:
    """Answer a request for a link: its data, or an error in the storage service's words, in XML."""
    if "Authorization" in request.headers:
        return _refused(400, "InvalidAuthenticationInfo", "Authentication information is not given")
    link = world.links.get(request.path)
    if link is None:
        return _refused(404, "BlobNotFound", "The specified blob does not exist.")
    if time.monotonic() > link.until:
        return _refused(403, "AuthenticationFailed", "Signature not valid in this time frame.")
    return Response(link.data, content_type=link.content_type)


def _refused(status: int, code: str, message: str) -> Response:
    text = f'<?xml version="1.0"?><Error><Code>{code}</Code><Message>{message}</Message></Error>'
    return Response(text, status=status, content_type="application/xml")
