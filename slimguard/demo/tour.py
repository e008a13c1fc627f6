"""The tour of `slimguard demo`: a real MCP client, a guard process, real upstreams; each step is checked."""

from __future__ import annotations

import importlib.util
import json
import re
import sys
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from mcp import StdioServerParameters
from mcp.client import Client
from mcp.client.stdio import stdio_client

from slimguard.canonical import digest_of, dump
from slimguard.demo import shop
from slimguard.tokens import Tokens

_REF = re.compile(r"result_ref=(\w+)")
_CURSOR = re.compile(r'cursor="([^"]+)"')


@dataclass(slots=True)
class Step:
    """One thing shown: what was done, what came of it, and whether it is as promised."""

    title: str
    good: bool
    lines: list[str] = field(default_factory=lambda: [])
    figures: dict[str, Any] = field(default_factory=lambda: {})


@dataclass(slots=True)
class Tour:
    """Runs the steps one after the other in a scratch folder; `show` is called with each as it is done."""

    folder: Path
    show: Callable[[Step], None]
    counter: Tokens = field(default_factory=Tokens)
    steps: list[Step] = field(default_factory=lambda: [])
    spent: int = 0

    async def run(self) -> bool:
        """All steps; whether all came out as promised."""
        config = self._configure()
        async with self._client(config) as client:
            await self._catalog(client)
            await self._find(client)
            await self._mail(client)
            ref = await self._log(client)
            await self._orders(client)
        async with self._client(config) as client:
            await self._again(client, ref)
        self._sum()
        return all(step.good for step in self.steps)

    def _configure(self) -> Path:
        servers: dict[str, Any] = {
            "shop": {"command": sys.executable, "args": ["-m", "slimguard.demo.shop", str(self.outbox)]}
        }
        for name, module in (("time", "mcp_server_time"), ("git", "mcp_server_git")):
            if importlib.util.find_spec(module) is not None:
                servers[name] = {"command": sys.executable, "args": ["-m", module]}
        path = self.folder / "slimguard.json"
        store = {"path": str(self.folder / "store" / "results.db")}
        path.write_text(json.dumps({"mcpServers": servers, "slimguard": {"store": store}}), encoding="utf-8")
        return path

    @property
    def outbox(self) -> Path:
        """The file that gets a line for each mail that was really sent."""
        return self.folder / "outbox.jsonl"

    def _mails(self) -> int:
        return len(self.outbox.read_text(encoding="utf-8").splitlines()) if self.outbox.exists() else 0

    @asynccontextmanager
    async def _client(self, config: Path) -> AsyncGenerator[Client, None]:
        command = ["-m", "slimguard", "serve", "--config", str(config)]
        async with Client(stdio_client(StdioServerParameters(command=sys.executable, args=command))) as client:
            yield client

    async def _call(self, client: Client, name: str, arguments: dict[str, Any]) -> str:
        result = await client.call_tool(name, arguments)
        answer = result.model_dump(by_alias=True, exclude_none=True, exclude={"meta"})
        answer.pop("resultType", None)
        self.spent += self.counter.count(dump({"name": name, "arguments": arguments})) + self.counter.count(
            dump(answer)
        )
        return "\n".join(block.text for block in result.content if block.type == "text")

    def _add(self, step: Step) -> None:
        self.steps.append(step)
        self.show(step)

    async def _catalog(self, client: Client) -> None:
        listed = await client.list_tools()
        ours = [tool.model_dump(by_alias=True, exclude_none=True) for tool in listed.tools]
        theirs = await self._upstream_tools()
        before, after = self.counter.count(dump({"tools": theirs})), self.counter.count(dump({"tools": ours}))
        self.spent += after
        line = f"{len(theirs)} tools of the servers: {before:,} tokens a request; the three of slimguard: {after}"
        self._add(Step("The host sees three tools", len(ours) == 3, [line], {"before": before, "after": after}))

    async def _upstream_tools(self) -> list[dict[str, Any]]:
        config = json.loads((self.folder / "slimguard.json").read_text(encoding="utf-8"))
        found: list[dict[str, Any]] = []
        for server in config["mcpServers"].values():
            parameters = StdioServerParameters(command=server["command"], args=server["args"])
            async with Client(stdio_client(parameters)) as client:
                listed = await client.list_tools()
                found += [tool.model_dump(by_alias=True, exclude_none=True) for tool in listed.tools]
        return found

    async def _find(self, client: Client) -> None:
        text = await self._call(client, "find_tool", {"query": "send mail customer"})
        self._add(Step('find_tool(query="send mail customer")', "shop/send_mail" in text, text.splitlines()[:4]))

    async def _mail(self, client: Client) -> None:
        arguments = {"to": "customer@shop.example", "subject": "Your order"}
        wrong = await self._call(client, "call_tool", {"tool_ref": "send_mail", "arguments": {"to": "nobody"}})
        refused = self._mails()
        text = await self._call(client, "call_tool", {"tool_ref": "send_mail", "arguments": arguments})
        lines = [
            f"wrong arguments: {wrong.splitlines()[0]}; mails sent: {refused}",
            f"right arguments: {text.splitlines()[0]}; mails sent: {self._mails()}",
        ]
        self._add(Step("A tool with an effect runs exactly once", (refused, self._mails()) == (0, 1), lines))

    async def _log(self, client: Client) -> str:
        text = await self._call(client, "call_tool", {"tool_ref": "shop/read_log", "arguments": {"day": "2026-03-14"}})
        found = _REF.search(text)
        ref = found[1] if found else ""
        good = bool(ref) and "KeyExpired" in text
        self._add(Step("A log of a megabyte: the first view shows what failed", good, text.splitlines()[:14]))
        query = "order 50231"
        text = await self._call(client, "read_result", {"result_ref": ref, "query": query})
        self._add(Step(f'read_result(query="{query}") searches it', "FATAL" in text, text.splitlines()[:8]))
        return ref

    async def _orders(self, client: Client) -> None:
        query = "sql:SELECT status, count(*), round(sum(amount), 2) FROM rows GROUP BY status ORDER BY 1"
        arguments = {"tool_ref": "shop/list_orders", "result_query": query}
        text = await self._call(client, "call_tool", arguments)
        expected = sum(order["status"] == "returned" for order in shop.orders())
        self._add(
            Step("Two thousand orders, summed up in one round trip", str(expected) in text, text.splitlines()[:9])
        )

    async def _again(self, client: Client, ref: str) -> None:
        spent = self.spent
        recent = await self._call(client, "read_result", {})
        body: list[str] = []
        cursor = ""
        for _ in range(500):
            arguments = {"result_ref": ref, **({"cursor": cursor} if cursor else {})}
            text = await self._call(client, "read_result", arguments)
            _, _, rest = text.partition("\n")
            page, _, last = rest.rpartition("\n")
            body.append(page)
            found = _CURSOR.search(last)
            if found is None:
                break
            cursor = found[1]
        self.spent = spent
        whole = "".join(body)
        expected = "\n".join(shop.log_lines()) + "\n"
        same = digest_of(whole.encode()) == digest_of(expected.encode())
        lines = [
            f"the list of recent results knows the ref: {'yes' if ref in recent else 'no'}",
            f"{len(body)} pages put together: BLAKE3 {digest_of(whole.encode())[:16]}…",
            f"the log's own: {digest_of(expected.encode())[:16]}…: {'the same bytes' if same else 'DIFFERENT'}",
        ]
        self._add(Step("The guard was restarted; the exact bytes are still there", same and ref in recent, lines))

    def _sum(self) -> None:
        answers = [shop.call(name, {}, self.outbox) for name in ("read_log", "list_orders")]
        direct = sum(self.counter.count(dump(answer)) for answer in answers) + int(self.steps[0].figures["before"])
        line = f"all that the host saw: {self.spent:,} tokens; directly: {direct:,} ({direct / self.spent:.0f} times)"
        self._add(Step("Tokens", self.spent < direct, [line], {"guarded": self.spent, "direct": direct}))
