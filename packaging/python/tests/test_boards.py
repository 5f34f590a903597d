# SPDX-License-Identifier: Apache-2.0
"""Searching for boards, provisioning and claiming."""
import asyncio

import pytest
import rainkit
from conftest import PASSPHRASE, run


def test_provision_with_events_and_everything(scene):
    board = scene.board("node-1", "--custom-endpoint", "custom-data")

    async def body():
        async with scene.client() as client:
            await client.sign_in(*scene.credentials)
            operation = client.provision(
                board.address, name="Kitchen lamp", tags={"room": "kitchen"}, metadata={"floor": 1},
                custom_data=b"\x00\xff", security=2, user_name="wifiprov", **scene.network(),
            )
            assert repr(operation) == "<rainkit.Operation provision: not started>"
            with pytest.raises(RuntimeError):
                operation.result
            steps = []
            async for event in operation:
                assert isinstance(event, rainkit.Progress) and event.dropped == 0
                assert event.name == event.document["state"]
                if event.name == "finished":
                    steps.append(event.document["step"])
            assert {"identify", "secure", "connect", "confirm"} <= set(steps)
            assert operation.result["node_id"] == "node-1" and operation.result["custom_data"][0]["endpoint"] == "custom-data"
            assert repr(operation) == "<rainkit.Operation provision: finished>"
            assert await operation == operation.result, "awaiting it again gives the result again"
            node = await client.node("Kitchen lamp")
            assert node["tags"] == ["room:kitchen"] and node["metadata"] == {"floor": 1}

    run(body())
    assert board.joined()["ssid"] == "Home"
    assert scene.cloud.journal(event="mapping", state="confirmed", node="node-1")


def test_two_boards_at_once(scene):
    boards = [scene.board("node-1"), scene.board("node-2")]

    async def body():
        async with scene.client() as client:
            await client.sign_in(*scene.credentials)
            results = await asyncio.gather(*(client.provision(board.address, **scene.network()) for board in boards))
            assert sorted(result["node_id"] for result in results) == ["node-1", "node-2"]
            listed = await client.nodes()
            assert sorted(node["node_id"] for node in listed["nodes"]) == ["node-1", "node-2"]

    run(body())


def test_errors_of_boards(scene):
    board = scene.board()

    async def body():
        async with scene.client() as client:
            await client.sign_in(*scene.credentials)

            async def fails(address=board.address, **more):
                with pytest.raises(rainkit.Error) as failure:
                    await client.provision(address, **scene.network(**more))
                assert PASSPHRASE not in str(failure.value) and "planted" not in repr(failure.value)
                return failure.value

            error = await fails(proof="planted-pop")
            assert error.code is rainkit.Code.WRONG_POP and error.name == "wrong_pop" and error.step == "secure"
            assert error.remedy and str(error) == f"{error.message} {error.remedy}"
            error = await fails("softap:127.0.0.1:9")
            assert error.code is rainkit.Code.UNAVAILABLE and error.step == "identify"
            assert (await fails("carrier-pigeon:1")).code is rainkit.Code.USAGE
            error = await fails(passphrase="planted-but-wrong", timeout=60)
            assert error.code is rainkit.Code.WIFI_AUTH_FAILED and error.step == "connect"

        for arguments in ({"security": 3}, {"tags": {"a": "b,c"}}, {"ssid": ""}, {"timeout": 0}, {"timeout": 1e10}):
            with pytest.raises(ValueError):
                client.provision(board.address, **scene.network(**arguments))

    run(body())


def test_without_an_account_and_with_a_qr_code(scene):
    board = scene.board("node-1", "--name", "PROV_a1b2c3")

    async def body():
        async with scene.client() as client:
            code = '{"ver":"v1","name":"PROV_a1b2c3","pop":"abcd1234","transport":"softap"}'
            operation = client.provision(
                board.address, qr_payload=code, ssid=b"Home", passphrase=PASSPHRASE, without_account=True)
            result = await operation
            assert result["mapping"] == "none" or "confirmed" not in result["mapping"]

    run(body())
    assert board.joined()


def test_claim(scene):
    board = scene.start_board("--unclaimed", "--mqtt", scene.cloud.mqtt, "--ca", scene.cloud.ca)

    async def body():
        async with scene.client(claim_url=scene.cloud.claim) as client:
            await client.sign_in(*scene.credentials)
            operation = client.claim(f"softap:{board.http}", proof="abcd1234")
            steps = [event.document["step"] async for event in operation]
            assert operation.result["claimed"] is True and operation.result["node_id"]
            assert "claim" in steps

    run(body())


@pytest.mark.usefixtures("bluetooth")
def test_discover(scene):
    # A board on the simulated radio. The other transports find nothing here.
    radio = scene.start_board("--ble", "--name", "PROV_b1eaac")

    async def body():
        async with scene.client() as client:
            operation = client.discover(["ble"], timeout=5)
            async for event in operation:
                assert event.name == "found" and event.document["name"] == "PROV_b1eaac"
            assert [board["name"] for board in operation.result["boards"]] == ["PROV_b1eaac"]
            assert radio.bluetooth["name"] == "PROV_b1eaac"
            with pytest.raises(rainkit.Error):
                await client.discover("smoke-signals", timeout=1)
            async for event in client.discover(timeout=60):
                if event.name == "found":
                    break
            else:
                pytest.fail("no board was found")

    run(body())
