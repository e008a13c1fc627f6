"""The demo's own upstream: an MCP server over stdio with a large log, a large list, and a tool with a visible effect.

Written by hand on JSON lines, without any library, so that it starts at once and its bytes are its own. Usage:
`python -m slimguard.demo.shop OUTBOX` where OUTBOX is a file that gets one line for each mail that was sent.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

TEXT = {"type": "string"}
TOOLS: list[dict[str, Any]] = [
    {
        "name": "read_log",
        "description": "Read the whole log of the checkout service of one day.",
        "inputSchema": {
            "type": "object",
            "properties": {"day": {"type": "string", "pattern": "^[0-9]{4}-[0-9]{2}-[0-9]{2}$"}},
            "required": ["day"],
            "additionalProperties": False,
        },
        "annotations": {"readOnlyHint": True},
    },
    {
        "name": "list_orders",
        "description": "List all orders of the shop with customer, amount, status and address.",
        "inputSchema": {"type": "object", "properties": {}, "additionalProperties": False},
        "annotations": {"readOnlyHint": True},
    },
    {
        "name": "send_mail",
        "description": "Send a mail to a customer. Each call sends one more.",
        "inputSchema": {
            "type": "object",
            "properties": {"to": {**TEXT, "pattern": "@"}, "subject": TEXT, "body": TEXT},
            "required": ["to", "subject"],
            "additionalProperties": False,
        },
        "annotations": {"readOnlyHint": False, "destructiveHint": False},
    },
]


def log_lines() -> Iterator[str]:
    """About a megabyte of log with one FATAL and its stack trace near the middle."""
    workers = ("checkout", "payment", "stock", "mailer")
    for number in range(9_000):
        stamp = f"2026-03-14T{number // 3600 % 24:02}:{number // 60 % 60:02}:{number % 60:02}.{number % 997:03}Z"
        worker = workers[number % 4]
        if number == 4_711:
            yield f"{stamp} FATAL [payment-3] order 50231: the card processor refused: KeyExpired: key 7f has ended"
            yield '  File "/srv/payment/charge.py", line 88, in charge'
            yield '  File "/srv/payment/keys.py", line 31, in current'
            yield "payment.errors.KeyExpired: key 7f ended 2026-03-13"
            continue
        level = "WARN" if number % 97 == 0 else "INFO"
        words = f"slow answer of the stock service, {number % 900 + 100} ms" if level == "WARN" else "request served"
        yield f"{stamp} {level:<5} [{worker}-{number % 7}] id={number * 7919 % 1_000_003:06} {words}, 200 OK"


def orders() -> list[dict[str, Any]]:
    """Two thousand orders with the noise that real rows have: links, a nested customer, constant fields."""
    cities = ("Lyon", "Porto", "Graz", "Ghent", "Turku")
    states = ("paid", "packed", "sent", "returned")
    return [
        {
            "id": 50_000 + number,
            "url": f"https://shop.example/api/orders/{50_000 + number}",
            "currency": "EUR",
            "amount": round((number * 37 % 5_000) / 10 + 4.9, 2),
            "status": states[number * 5 % 4 if number % 11 else 3],
            "customer": {
                "id": number % 311,
                "name": f"Customer {number % 311}",
                "city": cities[number % 5],
                "avatar_url": f"https://shop.example/avatars/{number % 311}.png",
            },
            "note": None,
        }
        for number in range(2_000)
    ]


def call(name: str, arguments: dict[str, Any], outbox: Path) -> dict[str, Any]:
    """The result of one tool."""
    if name == "read_log":
        return _text("\n".join(log_lines()) + "\n")
    if name == "list_orders":
        return _text(json.dumps({"orders": orders(), "total": 2_000}, separators=(",", ":")))
    with outbox.open("a", encoding="utf-8") as file:
        file.write(json.dumps({"to": arguments["to"], "subject": arguments["subject"]}) + "\n")
    return _text(f"sent to {arguments['to']}")


def _text(text: str) -> dict[str, Any]:
    return {"content": [{"type": "text", "text": text}]}


def answer(message: dict[str, Any], outbox: Path) -> dict[str, Any] | None:
    """The answer to one JSON-RPC message, or None for a notification."""
    if "id" not in message:
        return None
    parameters: dict[str, Any] = message.get("params") or {}
    handlers: dict[str, Callable[[], dict[str, Any]]] = {
        "initialize": lambda: {
            "protocolVersion": parameters["protocolVersion"],
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "shop", "version": "1"},
        },
        "ping": dict,
        "tools/list": lambda: {"tools": TOOLS},
        "tools/call": lambda: call(parameters["name"], parameters.get("arguments") or {}, outbox),
    }
    handler = handlers.get(message["method"])
    if handler is None:
        error = {"code": -32601, "message": "Method not found"}
        return {"jsonrpc": "2.0", "id": message["id"], "error": error}
    return {"jsonrpc": "2.0", "id": message["id"], "result": handler()}


def main() -> None:
    """Serve until stdin ends."""
    outbox = Path(sys.argv[1])
    for line in sys.stdin.buffer:
        reply = answer(json.loads(line), outbox)
        if reply is not None:
            sys.stdout.buffer.write(json.dumps(reply, ensure_ascii=False).encode("utf-8") + b"\n")
            sys.stdout.buffer.flush()


if __name__ == "__main__":
    main()
