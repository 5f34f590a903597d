# SPDX-License-Identifier: Apache-2.0
"""A session of the Model Context Protocol's own Python client, which checks each result against the tool's output schema.

  mcp_session.py TRANSCRIPT PROGRAM ARGUMENT...

Starts PROGRAM as a server and writes all its output to the file TRANSCRIPT as well. Each line of standard input is an object: {"list": true} lists
the tools, {"tool", "arguments"} calls one, {"calls": [...]} makes several such calls at once, {"ping": true} pings. Each is answered by a line of
JSON on standard output. The first line is the server's answer to initialize.
"""
import json
import os
import sys

import anyio
import jsonschema
from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client


def say(value):
    print(json.dumps(value), flush=True)


def plain(result):
    return result.model_dump(by_alias=True, mode="json", exclude_none=True)


class Client:
    def __init__(self, session):
        self.session = session
        self.tools = {}

    async def list(self):
        tools = plain(await self.session.list_tools())["tools"]
        for tool in tools:
            for name in ("inputSchema", "outputSchema"):
                if name in tool:
                    assert tool[name]["type"] == "object", f"{tool['name']}: {name}"
                    jsonschema.Draft202012Validator.check_schema(tool[name])
        self.tools = {tool["name"]: tool for tool in tools}
        return tools

    async def call(self, order):
        tool, arguments = order["tool"], order.get("arguments", {})
        steps = []

        async def progress(progress, total, message):
            steps.append([progress, message])

        try:
            if not order.get("odd"):
                jsonschema.validate(arguments, self.tools[tool]["inputSchema"])
            result = plain(await self.session.call_tool(tool, arguments, progress_callback=progress))
        except Exception as error:
            return {"tool": tool, "exception": f"{type(error).__name__}: {error}"}
        assert len(result["content"]) == 1 and result["content"][0]["type"] == "text", result
        text = result["content"][0]["text"]
        answer = {"tool": tool, "isError": result.get("isError", False), "text": text, "steps": steps}
        if "structuredContent" in result:
            assert json.loads(text) == result["structuredContent"], "the text is not the document"
            answer["document"] = result["structuredContent"]
        elif answer["isError"]:
            answer["document"] = json.loads(text)
        return answer

    async def do(self, order):
        if order.get("list"):
            return await self.list()
        if order.get("ping"):
            return plain(await self.session.send_ping())
        if "calls" not in order:
            return await self.call(order)
        answers = [None] * len(order["calls"])

        async def fill(index):
            answers[index] = await self.call(order["calls"][index])

        async with anyio.create_task_group() as group:
            for index in range(len(answers)):
                group.start_soon(fill, index)
        return answers


async def main():
    transcript, *command = sys.argv[1:]
    server = StdioServerParameters(
        command="/bin/sh", args=["-c", '"$@" | tee "$0"', transcript, *command], env=dict(os.environ)
    )
    async with stdio_client(server) as (read, write), ClientSession(read, write) as session:
        say(plain(await session.initialize()))
        client = Client(session)
        while line := await anyio.to_thread.run_sync(sys.stdin.readline):
            say(await client.do(json.loads(line)))


anyio.run(main)
