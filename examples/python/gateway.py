#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A gateway with asyncio. It signs in, and provisions the lights of its command line at the same time. Then it watches them, switches them
off, and ends when all of them have reported that they are off. (New lights are on.)

    EXAMPLE_… python3 gateway.py serial:/dev/ttyUSB0 softap:192.168.4.1

It ends with the number of the first error, which is also the exit code of rainctl.
"""
import asyncio
import os
import sys

import rainkit


async def provision(client, board):
    run = client.provision(
        board, proof=os.environ["EXAMPLE_PROOF"], ssid=os.environ["EXAMPLE_NETWORK"],
        passphrase=os.environ["EXAMPLE_PASSPHRASE"])
    async for event in run:
        print(f"{board}: {event.document['step']} {event.name}", flush=True)
    return run.result["node_id"]


async def switch_off(client, nodes):
    # A new board reports its devices within seconds.
    for _ in range(60):
        try:
            return await client.set(nodes, {"Light": {"Power": False}})
        except rainkit.Error as error:
            if error.reason != "no_configuration":
                raise
            await asyncio.sleep(0.5)


async def main(boards):
    async with rainkit.Client(
        os.environ["EXAMPLE_STATE"], store=rainkit.Store.FILE, base_url=os.environ["EXAMPLE_CLOUD"]
    ) as client:
        await client.sign_in(os.environ["EXAMPLE_USER"], os.environ["EXAMPLE_PASSWORD"])
        nodes = await asyncio.gather(*(provision(client, board) for board in boards))
        left, switching = set(nodes), None
        async for event in client.watch(nodes, timeout=60):
            if event.name == "watching":
                switching = asyncio.create_task(switch_off(client, nodes))
            elif event.name == "value" and event.document["path"] == "Light.Power":
                node, value = event.document["node_id"], event.document["value"]
                print(f"{node}: Light.Power is {str(value).lower()}", flush=True)
                if not value:
                    left.discard(node)
            if not left:
                break
        await switching
        print("done")


try:
    asyncio.run(main(sys.argv[1:]))
except rainkit.Error as error:
    print(error.message, error.remedy, file=sys.stderr)
    sys.exit(int(error.code))
