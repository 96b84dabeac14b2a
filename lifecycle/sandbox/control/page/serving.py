"""Serves the page: whole at `/` for a browser, and its changing part for the page itself."""

from __future__ import annotations

from dataclasses import asdict
from functools import cache

from jinja2 import Environment, PackageLoader, StrictUndefined
from werkzeug.wrappers import Request, Response

from lifecycle.sandbox.control.page.view import view
from lifecycle.sandbox.wire.site import Site

LIVE = "/_sandbox/page"
GUARDS = {
    # Only what the page itself brings along: titles and names come from whoever uses the sandbox.
    "Content-Security-Policy": "default-src 'none'; style-src 'self'; script-src 'self'; "
    "connect-src 'self'; img-src data:",
    "X-Content-Type-Options": "nosniff",
    "Cache-Control": "no-cache",
}
ASSETS = {"/_sandbox/page.css": "text/css", "/_sandbox/page.js": "text/javascript"}


@cache
def _templates() -> Environment:
    return Environment(
        loader=PackageLoader("lifecycle.sandbox.control.page"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


def is_page(request: Request) -> bool:
    """Whether a browser asks for the page, or the page for a part of itself."""
    if request.method != "GET":
        return False
    if request.path == LIVE or request.path in ASSETS:
        return True
    return request.path == "/" and "text/html" in request.headers.get("Accept", "")


def respond(site: Site, request: Request) -> Response:
    """Answer it. The changing part has an ETag, so that nothing is sent while nothing changes."""
    if request.path in ASSETS:
        text = _templates().get_template(request.path.rpartition("/")[2]).render()
        return Response(text, content_type=f"{ASSETS[request.path]}; charset=utf-8", headers=GUARDS)
    name = "live.html" if request.path == LIVE else "page.html"
    with site.world.lock:
        shown = asdict(view(site, request.args.get("repository")))
    text = _templates().get_template(name).render(shown)
    answer = Response(text, content_type="text/html; charset=utf-8", headers=GUARDS)
    answer.add_etag()
    answer.make_conditional(request)
    return answer
