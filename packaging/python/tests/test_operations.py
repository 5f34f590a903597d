# SPDX-License-Identifier: Apache-2.0
"""Cancelling, leaving, closing, forking, and many clients."""
import asyncio
import gc
import logging
import os
import pickle
import subprocess
import sys
import warnings

import pytest
import rainkit
from conftest import eventually, open_descriptors, run, wait_until


@pytest.mark.parametrize("step", ["account", "identify", "secure", "connect", "confirm"])
def test_cancelling_a_task_at_an_event(scene, step):
    board = scene.board("node-1")

    async def body():
        async with scene.client() as client:
            await client.sign_in(*scene.credentials)
            operation = client.provision(board.address, **scene.network())

            async def provision():
                async for event in operation:
                    if event.document["step"] == step:
                        task.cancel()

            task = asyncio.ensure_future(provision())
            with pytest.raises(asyncio.CancelledError):
                await task
            with pytest.raises(rainkit.Error) as failure:
                operation.result
            assert failure.value.code is rainkit.Code.CANCELLED
            assert operation._handle is None, "it is freed"
            assert await client.nodes(), "the client still works"

    run(body())


def test_a_cancelled_board_can_be_provisioned_again(scene):
    board = scene.board("node-1")

    async def body():
        async with scene.client() as client:
            await client.sign_in(*scene.credentials)
            with pytest.raises(asyncio.TimeoutError):
                await asyncio.wait_for(client.provision(board.address, **scene.network()), 0.02)
            assert (await client.provision(board.address, **scene.network()))["node_id"] == "node-1"

    run(body())


def test_leaving_a_loop_early_cancels_and_frees(scene):
    async def body():
        async with scene.client() as client:
            await client.sign_in(*scene.credentials)
            await scene.online(client)

            async def count():
                return open_descriptors()

            before = None
            for round in range(20):
                operation = client.watch()
                async for event in operation:
                    break
                assert operation._handle is None
                with pytest.raises(rainkit.Error) as failure:
                    operation.result
                assert failure.value.code is rainkit.Code.CANCELLED
                with pytest.raises(ZeroDivisionError):
                    async for event in client.watch():
                        1 / 0
                before = before or await count()
            await eventually(count, lambda seen: seen <= before + 2)

    run(body())


def test_cancelling_an_operation(scene):
    async def body():
        async with scene.client() as client:
            await client.sign_in(*scene.credentials)
            operation = client.watch()
            with pytest.raises(rainkit.Error) as failure:
                async for event in operation:
                    operation.cancel()
            assert failure.value.code is rainkit.Code.CANCELLED and failure.value.reason == "cancelled"

            operation = client.watch()
            operation.cancel()
            with pytest.raises(rainkit.Error):
                await operation

            # Two readers are a mistake.
            operation = client.watch()
            async for event in operation:
                with pytest.raises(RuntimeError):
                    await operation
                break

    run(body())


def test_closing_a_client_ends_its_operations(scene):
    async def body():
        client = scene.client()
        await client.sign_in(*scene.credentials)
        reading = asyncio.Event()

        async def watch():
            async for event in client.watch():
                reading.set()

        task = asyncio.ensure_future(watch())
        await reading.wait()
        await client.close()
        await client.close()
        with pytest.raises(rainkit.Error) as failure:
            await task
        assert failure.value.code is rainkit.Code.CANCELLED
        for call in (client.nodes(), client.watch()):
            with pytest.raises(rainkit.Error) as failure:
                await call
            assert (failure.value.code, failure.value.reason) == (rainkit.Code.USAGE, "closed")
        with pytest.raises(rainkit.Error):
            client.access_token()
        assert repr(client) == "<rainkit.Client closed>"

    run(body())


def test_an_operation_that_is_forgotten_is_reported(scene):
    client = scene.sync_client()
    with pytest.warns(RuntimeWarning, match="node_watch: not started.*never awaited"):
        client.watch()
        gc.collect()
    client.close()


def test_200_clients_leave_no_descriptors(scene):
    async def one(index):
        async with scene.client() as client:
            await client.sign_in(*scene.credentials)
            await client.nodes()

    async def body():
        for _ in range(20):
            await asyncio.gather(*(one(index) for index in range(10)))

    run(one(0))
    before = open_descriptors()
    run(body())
    wait_until(lambda: open_descriptors() <= before, f"{before} descriptors before")


def test_clients_that_nobody_closes_are_freed(scene):
    def forgotten():
        client = scene.sync_client()
        client.sign_in(*scene.credentials).wait()
        client.nodes()

    forgotten()
    gc.collect()
    before = open_descriptors()
    for _ in range(20):
        forgotten()
    gc.collect()
    wait_until(lambda: open_descriptors() <= before, f"{before} descriptors before")


def test_a_forked_child_is_refused(scene):
    client = scene.sync_client()
    client.sign_in(*scene.credentials).wait()
    operation = client.watch()
    reader, writer = os.pipe()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        child = os.fork()
    if child == 0:
        seen = []
        for call in (client.nodes, client.access_token, operation.wait, scene.sync_client, lambda: client.user_id):
            try:
                call()
                seen.append("no error")
            except rainkit.Error as error:
                seen.append(f"{error.code.name} {error.reason}")
            except BaseException as error:
                seen.append(repr(error))
        client.close()
        del client, operation
        gc.collect()
        os.write(writer, "\n".join(seen).encode())
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader) as answer:
        assert answer.read().split("\n") == ["UNAVAILABLE forked"] * 5
    assert os.waitpid(child, 0)[1] == 0
    assert client.nodes()["nodes"] == [], "the parent goes on"
    operation.cancel()
    client.close()


def test_the_logger_gets_lines_without_secrets(scene, caplog):
    logger = logging.getLogger("boards")
    caplog.set_level(logging.DEBUG - 5, "boards")

    async def body():
        async with scene.client(logger=logger) as client:
            await client.sign_in(*scene.credentials)
            token = client.access_token()
            await client.nodes()
            return token

    token = run(body())
    wait_until(lambda: any("/user/nodes" in record.message for record in caplog.records), caplog.text)
    assert {record.levelno for record in caplog.records} >= {logging.DEBUG}
    assert token not in caplog.text and scene.cloud.password not in caplog.text

    caplog.clear()
    logger.setLevel(logging.INFO)

    async def quiet():
        async with scene.client(logger=logger) as client:
            await client.sign_in(*scene.credentials)

    run(quiet())
    assert caplog.text == ""


def test_a_program_that_ends_without_closing(scene):
    program = (
        "import logging, rainkit, sys\n"
        "logging.basicConfig(level=1, stream=open('/dev/null', 'w'))\n"
        "client = rainkit.SyncClient(base_url=sys.argv[1], deployment='sim', logger=logging.getLogger())\n"
        "client.sign_in(*sys.argv[2:]).wait()\n"
        "watching = iter(client.watch(timeout=60))\n"
        "client.nodes()\n"
    )
    for _ in range(5):
        ended = subprocess.run(
            [sys.executable, "-c", program, scene.cloud.api, *scene.credentials], capture_output=True, timeout=60)
        assert ended.returncode == 0 and ended.stderr == b"", ended


def test_nothing_shows_secrets(scene, tmp_path):
    secrets = ["planted-password", "planted-proof", "planted-secret"]
    client = rainkit.Client(
        tmp_path, provider="oidc", provider_settings={"client_secret": secrets[2], "parameters": {"issuer": scene.cloud.api}})
    things = [
        client, client.sign_in("user", secrets[0]),
        client.provision("softap:", proof=secrets[1], ssid="Home", passphrase=secrets[0]),
        rainkit.Page(print, "https://example.com/planted-secret", "planted-secret"),
    ]
    for thing in things:
        assert not any(secret in repr(thing) + str(thing) for secret in secrets)
        if isinstance(thing, rainkit.Operation):
            assert not any(secret in repr(vars(thing)) for secret in secrets)
            thing.cancel()


def test_options_that_cannot_work(tmp_path):
    for options, code in [
        ({"base_url": "nonsense"}, rainkit.Code.CONFIG),
        ({"base_url": "http://example.com"}, rainkit.Code.CONFIG),
        ({"ca_file": tmp_path / "missing.pem"}, rainkit.Code.CONFIG),
        ({"store": rainkit.Store.FILE}, rainkit.Code.CONFIG),
        ({"provider": "oidc", "provider_settings": {"planted": 1}}, rainkit.Code.BAD_DATA),
    ]:
        with pytest.raises(rainkit.Error) as failure:
            rainkit.Client(**options)
        assert failure.value.message and failure.value.code is code, failure.value
        if "base_url" in options:
            assert failure.value.message.startswith("base_url: "), failure.value
    with pytest.raises(ValueError, match="account has a NUL character"):
        rainkit.Client(account="a\0b")


def test_wrong_arguments_are_named():
    with rainkit.SyncClient() as client:
        for text, problem in ((" a\0b", "has a NUL character"), ("x" * ((1 << 20) + 1), "is longer than 1 MiB"), ("", "is empty")):
            for name, call in {
                "node": lambda: client.node(text),
                "user": lambda: client.sign_in(text, "x"),
                "name": lambda: client.rename("Lamp", text),
            }.items():
                with pytest.raises(ValueError, match=f"{name} {problem}"):
                    call()
        with pytest.raises(ValueError, match="password is empty"):
            client.sign_in("me@example.com", "")
        with pytest.raises(ValueError, match="board has a NUL character"):
            client.provision("a\0b", ssid="Home")
        with pytest.raises(rainkit.Error, match="^passphrase: ") as failure:
            client.provision("softap:127.0.0.1:9", ssid="Home", passphrase="short 7").wait()
        assert (failure.value.code, failure.value.reason) == (rainkit.Code.USAGE, "invalid_argument")


def test_a_long_token_is_copied_completely():
    token, sizes = b"t" * 5000, []

    def copy(handle, buffer, size, length):
        sizes.append(size)
        length._obj.value = len(token)
        if size <= len(token):
            return rainkit.Code.BAD_DATA
        buffer[: len(token)] = token
        return 0

    with rainkit.SyncClient() as client:
        assert client._copy(copy) == token.decode() and sizes == [4096, 5001]


def test_errors_are_values():
    error = rainkit.Error(rainkit.Code.DEADLINE, "deadline", "Too late.", remedy="Again.", step="connect", document={"a": 1})
    copy = pickle.loads(pickle.dumps(error))
    assert vars(copy) == vars(error) and str(copy) == "Too late. Again." and copy.name == "deadline"
