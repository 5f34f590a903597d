# SPDX-License-Identifier: Apache-2.0
"""The boards of the account, their schedules and updates, and sharing."""
import asyncio
import hashlib

import pytest
import pytest_rainkit
import rainkit
from conftest import eventually, run

FRIEND = "friend@example.com"


def image(version="2.0", project="led_light", size=4096):
    """An application's image: header, description, one segment, checksum and hash."""
    content, end = bytearray(size), size - 32
    content[0], content[1], content[12], content[23] = 0xE9, 1, 5, 1
    content[28:32] = (end - 33).to_bytes(4, "little")
    content[32:36] = bytes([0x32, 0x54, 0xCD, 0xAB])
    content[48 : 48 + len(version)] = version.encode()
    content[80 : 80 + len(project)] = project.encode()
    checksum = 0xEF
    for byte in content[32 : end - 1]:
        checksum ^= byte
    content[end - 1] = checksum
    return bytes(content[:end]) + hashlib.sha256(content[:end]).digest()


def test_values_names_schedules_and_removal(scene):
    async def body():
        async with scene.client() as client:
            await client.sign_in(*scene.credentials)
            await scene.online(client)
            assert (await client.node("Lamp"))["connected"] is True
            for power in (False, True):
                outcome = await client.set("Lamp", {"Light": {"Power": power}}, wait=30)
                assert [(node["node_id"], node["state"]) for node in outcome["nodes"]] == [("node-1", "reported")]
                assert (await client.get("node-1"))["params"]["Light"]["Power"] is power
            await client.set(["node-1"], {"Light": {"Power": False}})

            for values in ({"Light": {"Colour": 1}}, {"Light": {"Power": 3}}, {}):
                with pytest.raises(rainkit.Error) as failure:
                    await client.set("Lamp", values)
                assert failure.value.code in (rainkit.Code.USAGE, rainkit.Code.BAD_DATA)
            with pytest.raises(rainkit.Error) as failure:
                await client.node("Lampe")
            assert failure.value.reason == "no_such_node", failure.value.reason

            # A board reports a change of its schedules a little later.
            added = await client.add_schedule("Lamp", "Evening", {"Light": {"Power": True}}, "19:30", "mon-fri")

            async def is_enabled():
                listed = (await client.schedules("Lamp"))["schedules"]
                return [schedule["enabled"] for schedule in listed]

            await eventually(is_enabled, lambda seen: seen == [True])
            await client.disable_schedule("Lamp", added["id"])
            await eventually(is_enabled, lambda seen: seen == [False])
            await client.enable_schedule("Lamp", "Evening")
            await eventually(is_enabled, lambda seen: seen == [True])
            changed = await client.remove_schedule("Lamp", "Evening")
            assert changed["id"] == added["id"] and changed["operation"] == "remove"
            await eventually(is_enabled, lambda seen: seen == [])

            await client.rename("Lamp", "Desk, left")
            await eventually(lambda: client.node("node-1"), lambda node: node["name"] == "Desk, left")
            assert (await client.remove("node-1"))["removed"] is True
            assert (await client.nodes())["nodes"] == []

    run(body())


def test_a_value_that_is_not_reported(scene):
    async def body():
        async with scene.client() as client:
            await client.sign_in(*scene.credentials)
            await scene.online(client)
            board = scene.running[-1]
            board.program.end()
            with pytest.raises(rainkit.Error) as failure:
                await client.set("Lamp", {"Light": {"Power": False}}, wait=0.5)
            error = failure.value
            assert error.code in (rainkit.Code.DEADLINE, rainkit.Code.BATCH_PARTIAL)
            assert error.document["nodes"][0]["node_id"] == "node-1"

    run(body())


def test_watch(scene):
    async def body():
        async with scene.client() as client, scene.client() as other:
            for one in (client, other):
                await one.sign_in(*scene.credentials)
            await scene.online(client)

            async def seen(operation, name):
                async for event in operation:
                    if event.name == "listening":
                        await other.set("Lamp", {"Light": {"Power": not (await other.get("Lamp"))["params"]["Light"]["Power"]}})
                    if event.name == name:
                        return event.document
                raise AssertionError(f"no {name}")

            for nodes in (None, "Lamp", ["node-1"]):
                change = await seen(client.watch(nodes), "value")
                assert (change["node_id"], change["path"]) == ("node-1", "Light.Power")
            # The second board is added while all are watched.
            operation = client.watch()
            adding = None
            async for event in operation:
                if event.name == "added" and event.document["node_id"] == "node-1":
                    assert event.document["connected"] is True and event.document["name"] == "Lamp"
                if event.name == "listening" and adding is None:
                    adding = asyncio.ensure_future(scene.online(other, "node-2", "Fan"))
                if event.name == "added" and event.document["node_id"] == "node-2":
                    break
            await adding
            assert dict(await client.watch("Lamp", timeout=0.1)) == {}

    run(body())


def test_update(scene, tmp_path):
    file = tmp_path / "lamp.bin"
    file.write_bytes(image())

    async def body():
        async with scene.client() as client:
            await client.sign_in(*scene.credentials)
            await scene.online(client)
            operation = client.update("Lamp", file)
            names, sizes = [], set()
            async for event in operation:
                names.append(event.name)
                if event.name == "uploaded":
                    sizes.add(event.document["size"])
            assert {"uploaded", "sent", "news"} <= set(names) and sizes == {4096}
            assert operation.result["state"] == "success" and operation.result["version"] == "2.0"
            with pytest.raises(rainkit.Error):
                await client.update("Lamp", tmp_path / "missing.bin")

    run(body())


@pytest.mark.rainkit_cloud("--user", f"{FRIEND}:{pytest_rainkit.PASSWORD}")
def test_sharing(scene):
    async def body():
        async with scene.client() as owner, scene.client() as friend:
            await owner.sign_in(*scene.credentials)
            await friend.sign_in(FRIEND, pytest_rainkit.PASSWORD)
            await scene.online(owner)

            first = (await owner.share("Lamp", FRIEND))["request_id"]
            assert [one["request_id"] for one in (await owner.share_requests(sent=True))["requests"]] == [first]
            assert [one["ids"] for one in (await friend.share_requests())["requests"]] == [["node-1"]]
            assert (await friend.decline_share(first))["accepted"] is False
            assert (await friend.nodes())["nodes"] == []
            second = (await owner.share(["Lamp"], FRIEND))["request_id"]
            assert (await friend.accept_share(second))["accepted"] is True
            assert [node["role"] for node in (await friend.nodes())["nodes"]] == ["secondary"]
            for listed in (await owner.shares(), await owner.shares("Lamp")):
                assert [one["secondary_users"] for one in listed["shared"]] == [[FRIEND]]
            assert (await owner.stop_sharing("Lamp", FRIEND))["removed"] is True
            assert (await friend.nodes())["nodes"] == []
            with pytest.raises(rainkit.Error):
                await friend.accept_share("no-such-request")

    run(body())
