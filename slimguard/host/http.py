"""The server over Streamable HTTP: loopback by default, Host and Origin checked, a bearer token always asked for."""

from __future__ import annotations

import hmac
import socket
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

from mcp.server.lowlevel import Server
from mcp.server.transport_security import TransportSecuritySettings

from slimguard.canonical import digest_of
from slimguard.policy import HTTP_BODY_BYTES

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
Application = Callable[[Scope, Receive, Send], Awaitable[None]]


def owner_of_token(token: str) -> str:
    """The owner that a bearer token stands for; the token itself is never kept."""
    return f"token:{digest_of(token.encode('utf-8'))[:32]}"


def application(server: Server[Any], *, token: str, host: str) -> Application:
    """The ASGI application at `/mcp`; answers 401 without the right token, 421/403 for a foreign Host or Origin."""
    # The port is not what rebinding is about: a forwarded port must work, a foreign name must not.
    names = [f"{name}:*" for name in _names_of(host)]
    security = TransportSecuritySettings(
        enable_dns_rebinding_protection=True,
        allowed_hosts=names,
        allowed_origins=[f"http://{name}" for name in names],
    )
    inner: Any = server.streamable_http_app(
        host=host, transport_security=security, max_request_body_size=HTTP_BODY_BYTES
    )
    return _with_bearer(inner, token)


def _names_of(host: str) -> list[str]:
    """How requests to an address may call it: a wildcard has the names and addresses of this machine."""
    loopback = ["127.0.0.1", "localhost", "[::1]"]
    if is_loopback(host):
        return loopback
    if host not in ("", "0.0.0.0", "::", "[::]"):  # noqa: S104 - compared, not bound
        return [host]
    own = socket.gethostname()
    try:
        found = {str(item[4][0]) for item in socket.getaddrinfo(own, None)}
    except OSError:
        found = set[str]()
    return [*loopback, own, *sorted(f"[{address}]" if ":" in address else address for address in found)]


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach an address."""
    return host in ("localhost", "::1", "[::1]") or host.startswith("127.")


def _with_bearer(inner: Application, token: str) -> Application:
    expected = token.encode()

    async def guarded(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await inner(scope, receive, send)
            return
        given = next((value for name, value in scope["headers"] if name == b"authorization"), b"")
        scheme, _, secret = given.partition(b" ")
        if scheme.lower() == b"bearer" and hmac.compare_digest(secret.strip(), expected):
            await inner(scope, receive, send)
            return
        headers = [(b"www-authenticate", b"Bearer"), (b"content-type", b"text/plain; charset=utf-8")]
        await send({"type": "http.response.start", "status": 401, "headers": headers})
        await send({"type": "http.response.body", "body": b"a bearer token is needed: Authorization: Bearer TOKEN\n"})

    return guarded
