# SPDX-License-Identifier: Apache-2.0
"""A program whose types mypy checks. It is not run."""
import asyncio

import rainkit


async def gateway() -> None:
    async with rainkit.Client("/tmp/state", store=rainkit.Store.FILE) as client:
        async for question in client.sign_in("user", "password"):
            if isinstance(question, rainkit.Question):
                question.answer("123456")
        operation = client.provision("softap:", ssid="Home", passphrase="correct horse")
        async for event in operation:
            state: str = event.document["state"]
            print(event.name, state, event.dropped)
        node_id: str = operation.result["node_id"]
        discovery: rainkit.documents.Discovery = await client.discover(timeout=1)
        print([board["transport"] for board in discovery["boards"]], node_id)
        nodes = (await client.nodes())["nodes"]
        names: "list[str]" = [node["node_id"] for node in nodes]
        await client.set(names, {"Light": {"Power": True}}, wait=5)
        async for change in client.watch():
            print(change.document.get("path"))


def script() -> None:
    with rainkit.SyncClient() as client:
        session: rainkit.documents.Session = client.sign_in("user", "password").wait()
        print(session["user_id"], client.access_token(), client.user_id)
        update = client.update("Lamp", "lamp.bin")
        for step in update:
            print(step.name, step.document.get("size"))
        print(update.result["version"])
        try:
            client.remove("Lamp")
        except rainkit.Error as error:
            if error.code is rainkit.Code.UNAVAILABLE:
                print(error.reason, error.remedy)


asyncio.run(gateway())
script()
