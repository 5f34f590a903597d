# SPDX-License-Identifier: Apache-2.0
"""The blocking client. Its methods are made from those of the other, so not each of them is run here."""
import signal
import threading

import pytest
import rainkit
from conftest import python, wait_until


def test_a_script(scene, tmp_path):
    board = scene.board("node-1")
    with scene.sync_client(tmp_path / "state", store=rainkit.Store.FILE) as client:
        session = client.sign_in(*scene.credentials).wait()
        assert client.user_id == session["user_id"] == client.profile()["user_id"]
        operation = client.provision(board.address, name="Lamp", **scene.network())
        names = [event.name for event in operation]
        assert names[0] == "started" and operation.result["node_id"] == "node-1"
        assert client.nodes()["nodes"][0]["name"] == "Lamp"
        wait_until(lambda: "Light" in client.get("Lamp")["params"])
        assert client.set("Lamp", {"Light": {"Power": False}}, wait=30)["nodes"][0]["state"] == "reported"
        for event in client.watch():
            break
        assert dict(client.watch("Lamp", timeout=0.1).wait()) == {}
        with pytest.raises(rainkit.Error) as failure:
            client.node("Lampe")
        assert failure.value.code is not rainkit.Code.CANCELLED
        client.add_schedule("Lamp", "Evening", {"Light": {"Power": True}}, "19:30")
        client.rename("Lamp", "Desk lamp")
        assert client.remove("node-1")["removed"]
        assert client.sign_out(everywhere=True)["revoked"]
    with pytest.raises(rainkit.Error):
        client.nodes()


def test_another_thread_cancels(scene):
    with scene.sync_client() as client:
        client.sign_in(*scene.credentials).wait()
        operation = client.watch()
        with pytest.raises(rainkit.Error) as failure:
            for event in operation:
                threading.Thread(target=operation.cancel).start()
        assert failure.value.code is rainkit.Code.CANCELLED


def test_threads_share_a_client(scene):
    with scene.sync_client() as client:
        client.sign_in(*scene.credentials).wait()
        seen = []
        threads = [threading.Thread(target=lambda: seen.append(client.nodes()["nodes"])) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert seen == [[]] * 8


def test_control_c(scene):
    # A program that the shell starts in the background ignores the signal otherwise.
    program = """
import rainkit, signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)
client = rainkit.SyncClient(base_url=sys.argv[1], deployment="sim")
client.sign_in(*sys.argv[2:]).wait()
try:
    print("watching")
    client.watch().wait()
except KeyboardInterrupt:
    print("interrupted", len(client.nodes()["nodes"]))
"""
    with python(program, scene.cloud.api, *scene.credentials) as child:
        assert child.stdout.readline() == "watching\n"
        child.send_signal(signal.SIGINT)
        assert child.stdout.readline() == "interrupted 0\n"
        assert child.wait() == 0
