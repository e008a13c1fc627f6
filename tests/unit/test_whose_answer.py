"""Whose answer a message is: by its id, also on a response of its own over HTTP, and inside a batch."""

from __future__ import annotations

import json

import anyio
import httpx2
import pytest

from slimguard.points import nowhere
from slimguard.upstream.http import HttpWire
from slimguard.upstream.peer import Peer, Reply
from slimguard.upstream.posting import Poster
from slimguard.upstream.stdio import parts_of

OURS = b'{"jsonrpc":"2.0","id":1,"result":{"it":"is ours"}}'
OTHERS = b'{"jsonrpc":"2.0","id":77,"result":{"it":"is not"}}'
NOTICE = b'{"jsonrpc":"2.0","method":"notifications/message"}'


async def reply_to(body: bytes, status: int = 200, media: str = "application/json") -> Reply:
    """What one request of ours hears when the server answers with this."""

    def answer(_request: httpx2.Request) -> httpx2.Response:
        return httpx2.Response(status, content=body, headers={"content-type": media})

    peer = Peer(nowhere, lambda: None)
    async with (
        httpx2.AsyncClient(transport=httpx2.MockTransport(answer)) as client,
        anyio.create_task_group() as tasks,
    ):
        peer.attach(HttpWire(Poster(client, peer, nowhere), "http://server/mcp", peer, tasks))
        reply = await peer.ask("ping")
        with anyio.fail_after(5):
            await reply.done.wait()
    return reply


def events(*messages: bytes) -> bytes:
    return b"".join(b"data: " + message + b"\n\n" for message in messages)


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("body", "media"),
    [
        (events(OTHERS, OURS), "text/event-stream"),
        (events(b"[" + OTHERS + b"," + OURS + b"]"), "text/event-stream"),
        (b"[" + OTHERS + b", " + NOTICE + b"," + OURS + b"]", "application/json"),
        (OURS.replace(b"1,", b'"1",', 1), "application/json"),
        (OURS.replace(b'"id":1,', b""), "application/json"),
    ],
)
async def test_the_answer_under_our_own_id_or_under_none_is_ours(body: bytes, media: str) -> None:
    reply = await reply_to(body, media=media)
    assert reply.response is not None
    assert reply.response.answer.raw == b'{"it":"is ours"}'


@pytest.mark.anyio
@pytest.mark.parametrize(("body", "media"), [(events(OTHERS), "text/event-stream"), (OTHERS, "application/json")])
async def test_an_answer_under_a_wrong_id_is_an_error_that_keeps_its_bytes(body: bytes, media: str) -> None:
    reply = await reply_to(body, media=media)
    assert reply.response is not None
    assert reply.response.answer.kind == "illegal"
    assert reply.response.answer.raw == OTHERS
    assert "another request" in reply.response.answer.note


@pytest.mark.anyio
async def test_a_refusal_under_an_id_of_the_servers_own_is_the_answer() -> None:
    body = {"jsonrpc": "2.0", "id": "server-error", "error": {"code": -32600, "message": "no"}}
    reply = await reply_to(json.dumps(body).encode(), status=400)
    assert reply.response is not None
    assert json.loads(reply.response.answer.raw)["message"] == "no"


@pytest.mark.anyio
async def test_a_body_that_is_no_message_is_kept_as_it_is() -> None:
    reply = await reply_to(b"<html>", media="text/html")
    assert reply.response is not None
    assert reply.response.answer.raw == b"<html>"


@pytest.mark.parametrize(
    ("line", "parts"),
    [
        (OURS, [OURS]),
        (b" [" + OURS + b" , " + NOTICE + b"]\r", [OURS, NOTICE]),
        (b"[]", []),
        (b"", []),
        (b"[INFO] started {", [b"INFO"]),
        (b"[{broken", [b"[{broken"]),
    ],
)
def test_a_line_is_one_message_or_those_of_a_batch(line: bytes, parts: list[bytes]) -> None:
    assert list(parts_of(line)) == parts
