# SPDX-License-Identifier: Apache-2.0
"""Fixtures for the tests of the package, on those of pytest-rainkit: a simulated cloud, boards, and clients of both."""
import asyncio
import contextlib
import dataclasses
import json
import os
import pathlib
import subprocess
import sys
import threading
import time
import urllib.request

import pytest
import rainkit

PASSPHRASE, PROOF, SSID = "correct horse", "abcd1234", "Home"
#: A safety limit in seconds. It only matters when a test fails.
LIMIT = 120


@dataclasses.dataclass
class Scene:
    """A cloud with one user, and boards that wait to be provisioned."""

    cloud: object
    start_board: object
    running: list = dataclasses.field(default_factory=list)

    def options(self, **more):
        return {"base_url": self.cloud.api, "deployment": "sim", **more}

    def client(self, *arguments, **more):
        return rainkit.Client(*arguments, **self.options(**more))

    def sync_client(self, *arguments, **more):
        return rainkit.SyncClient(*arguments, **self.options(**more))

    @property
    def credentials(self):
        return self.cloud.user, self.cloud.password

    def board(self, node="node-1", *options):
        """Starts a board that waits to be provisioned. Returns it with its address."""
        board = self.start_board(*options, node=node)
        board.address = f"softap:{board.http}"
        self.running.append(board)
        return board

    def network(self, **more):
        return {"ssid": SSID, "passphrase": PASSPHRASE, "proof": PROOF, **more}

    def control(self, what, **members):
        """Controls the simulated cloud."""
        request = urllib.request.Request(f"{self.cloud.api}/_sim/{what}", json.dumps(members).encode(), method="POST")
        with urllib.request.urlopen(request, timeout=LIMIT) as response:
            return response.read()

    async def online(self, client, node="node-1", name="Lamp"):
        """Provisions a board and waits until it has reported its values."""
        await client.provision(self.board(node).address, name=name, **self.network())
        await eventually(lambda: client.get(name), lambda values: "Light" in values["params"])


@pytest.fixture
def scene(cloud, board):
    return Scene(cloud, board)


def run(body):
    """Runs a coroutine within the safety limit."""

    async def limited():
        return await asyncio.wait_for(body, LIMIT)

    return asyncio.run(limited())


async def eventually(look, is_right, pause=0.05):
    """Looks again until the answer is right."""
    end = time.monotonic() + LIMIT
    while not is_right(seen := await look()):
        assert time.monotonic() < end, seen
        await asyncio.sleep(pause)
    return seen


def open_descriptors():
    return len(os.listdir("/proc/self/fd"))


def wait_until(is_right, message=""):
    end = time.monotonic() + LIMIT
    while not is_right():
        assert time.monotonic() < end, message
        time.sleep(0.02)


@contextlib.contextmanager
def python(program, *arguments, **environment):
    """Runs a Python program, which ends with the block, and after the safety limit in any case."""
    child = subprocess.Popen(
        [sys.executable, "-u", "-c", program, *arguments], stdout=subprocess.PIPE, text=True,
        env={**os.environ, **environment})
    guard = threading.Timer(LIMIT, child.kill)
    guard.start()
    try:
        with child:
            yield child
            child.terminate()
    finally:
        guard.cancel()


@pytest.fixture(scope="session")
def package():
    """The folder packaging/python."""
    return pathlib.Path(__file__).resolve().parent.parent
