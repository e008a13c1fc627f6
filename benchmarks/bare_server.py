"""The floor of a start: a server of three tools on the SDK alone, over its own stdio; does nothing when called."""

from __future__ import annotations

import anyio
import mcp_types as types
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server

NAMES = ("find_tool", "call_tool", "read_result")
SCHEMA = {"type": "object", "properties": {"query": {"type": "string"}}}


async def list_tools(_context: object, _params: object) -> types.ListToolsResult:
    return types.ListToolsResult(
        tools=[types.Tool(name=name, description="One of three tools.", input_schema=SCHEMA) for name in NAMES]
    )


async def call_tool(_context: object, params: types.CallToolRequestParams) -> types.CallToolResult:
    return types.CallToolResult(content=[types.TextContent(type="text", text=params.name)])


async def main() -> None:
    server = Server("bare", version="1", on_list_tools=list_tools, on_call_tool=call_tool)
    async with stdio_server() as (read, write):
        await server.run(read, write, server.create_initialization_options())


if __name__ == "__main__":
    anyio.run(main)
