"""The floor of a call: a proxy written on the SDK alone, one upstream, no validation, no store, no view, no promise.

Usage: `python benchmarks/minimal_proxy.py COMMAND ARGS…`.
"""

from __future__ import annotations

import sys
from typing import Any

import anyio
import mcp_types as types
from mcp import StdioServerParameters
from mcp.client.session import ClientSession
from mcp.client.stdio import stdio_client
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server


async def main(command: str, arguments: list[str]) -> None:
    parameters = StdioServerParameters(command=command, args=arguments)
    async with stdio_client(parameters) as streams, ClientSession(*streams) as upstream:
        await upstream.initialize()

        async def list_tools(_context: object, _params: object) -> types.ListToolsResult:
            return await upstream.list_tools()

        async def call_tool(_context: object, params: types.CallToolRequestParams) -> Any:
            return await upstream.call_tool(params.name, params.arguments)

        server: Server[Any] = Server("proxy", version="1", on_list_tools=list_tools, on_call_tool=call_tool)
        async with stdio_server() as (read, write):
            await server.run(read, write, server.create_initialization_options())


if __name__ == "__main__":
    anyio.run(main, sys.argv[1], sys.argv[2:])
