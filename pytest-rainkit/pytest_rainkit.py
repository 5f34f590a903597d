# SPDX-License-Identifier: Apache-2.0
"""RainKit's simulated cloud and board as pytest fixtures.

    def test_my_client(cloud, board):
        node = board(node="lamp")              # a board that this cloud knows, waiting to be provisioned
        my_client.provision(node.http, node.pop, cloud.api)
        assert cloud.journal(event="mapping", state="confirmed")

Each fixture starts programs of its own, on free ports of 127.0.0.1, and ends them with the test. The programs `cloud-sim` and
`firmware-sim` are those of Debian's package rainkit-simulators, or of the folder that `--rainkit-bin` or `RAINKIT_BIN` names.
"""
import dataclasses
import json
import os
import pathlib
import select
import shutil
import subprocess
import time

import pytest

#: How long a program may take until it is ready, in seconds.
START_LIMIT = 20

#: What every simulated board is told unless a test says otherwise.
POP = "abcd1234"
SSID = "Home"
PASSPHRASE = "correct horse"
USER = "maker@example.com"
PASSWORD = "Passw0rd-of-tests"


def pytest_addoption(parser):
    parser.addoption("--rainkit-bin", help="the folder with cloud-sim and firmware-sim (else RAINKIT_BIN, else PATH)")
    parser.addini("rainkit_preset", "the --preset of boards that name none", default="")


def pytest_configure(config):
    config.addinivalue_line("markers", "rainkit_board(*options): options of firmware-sim for every board of this test")
    config.addinivalue_line("markers", "rainkit_cloud(*options): options of cloud-sim for the cloud of this test")


class Program:
    """A program that says in its first line, a JSON object, that it is ready."""

    def __init__(self, command, environment=None, log=None):
        self._log = open(log, "wb") if log else subprocess.DEVNULL
        self.process = subprocess.Popen(
            [str(word) for word in command], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=self._log,
            env={**os.environ, **(environment or {})},
        )
        line = self._first_line(log)
        self.ready = json.loads(line) if line.startswith("{") else {"line": line}

    def _first_line(self, log):
        end, text = time.monotonic() + START_LIMIT, b""
        descriptor = self.process.stdout.fileno()
        while not text.endswith(b"\n"):
            readable, _, _ = select.select([descriptor], [], [], max(0, end - time.monotonic()))
            byte = os.read(descriptor, 1) if readable else b""
            if not byte:
                self.end()
                said = pathlib.Path(log).read_text(errors="replace")[-2000:] if log else ""
                raise RuntimeError(f"{self.process.args[0]} did not become ready: {said}")
            text += byte
        return text.decode().strip()

    def end(self):
        """Ends it, and waits until it has."""
        if self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(5)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
        self.process.stdout.close()
        if self._log is not subprocess.DEVNULL:
            self._log.close()


class Journaled:
    """Writes down what happens, a JSON object on each line."""

    journal_path: pathlib.Path

    def journal(self, **members):
        """The entries that have these members."""
        if not self.journal_path.exists():
            return []
        lines = self.journal_path.read_text().splitlines()
        entries = [json.loads(line) for line in lines if line.endswith("}")]
        return [entry for entry in entries if all(entry.get(name) == value for name, value in members.items())]

    def wait_for(self, timeout=10, **members):
        """The first such entry, as soon as it is there; TimeoutError after so many seconds."""
        end = time.monotonic() + timeout
        while True:
            if found := self.journal(**members):
                return found[0]
            if time.monotonic() > end:
                raise TimeoutError(f"no entry with {members} in {self.journal_path}")
            time.sleep(0.02)


class Cloud(Journaled):
    """A running cloud-sim with one user."""

    user, password = USER, PASSWORD

    def __init__(self, program, journal_path):
        self.program, self.journal_path = program, journal_path
        ready = program.ready
        #: The API's base URL, the broker's host:port, the claim service's base URL, the file of the CA.
        self.api, self.mqtt, self.ca = ready["api"], ready["mqtt"], ready["ca"]
        self.claim = ready.get("claim", self.api)

    def board_options(self, node):
        """The options that make a simulated board this node."""
        files = self.program.ready["nodes"][node]
        return ["--node-id", node, "--mqtt", self.mqtt, "--ca", self.ca, "--cert", files["cert"], "--key", files["key"]]


@dataclasses.dataclass
class Board(Journaled):
    """A running firmware-sim. What it does not have is None."""

    program: Program
    journal_path: pathlib.Path
    pop: str
    ssid: str = SSID
    passphrase: str = PASSPHRASE

    @property
    def http(self):
        """host:port of its protocomm server, as on its own access point."""
        return self.program.ready.get("http")

    @property
    def console(self):
        """The path of its serial port."""
        return self.program.ready.get("console")

    @property
    def node_id(self):
        return self.program.ready.get("node_id")

    @property
    def bluetooth(self):
        """Its address and name as BlueZ has them: {"address": …, "name": …}."""
        boards = (self.program.ready.get("ble") or {}).get("boards") or [None]
        return boards[0]

    def joined(self, timeout=10):
        """Waits until it is on its network; the journal's entry."""
        return self.wait_for(timeout, event="state", change="joined")


def _options(request, marker):
    return [str(option) for mark in request.node.iter_markers(marker) for option in mark.args]


@pytest.fixture(scope="session")
def rainkit_bin(request):
    """A function from a program's name to its path; the test is skipped where there is none."""
    folder = request.config.getoption("--rainkit-bin") or os.environ.get("RAINKIT_BIN")

    def find(name):
        # A relative entry of PATH depends on the working folder.
        search = os.pathsep.join(filter(os.path.isabs, os.environ.get("PATH", os.defpath).split(os.pathsep)))
        path = str(pathlib.Path(folder, name)) if folder else shutil.which(name, path=search)
        if not path or not os.access(path, os.X_OK):
            pytest.fail(f"{name} is not there: install rainkit-simulators, or name its folder with --rainkit-bin", False)
        return path

    return find


#: The ids of the nodes that the cloud knows. Their certificates are made when it starts.
NODES = ("node-1", "node-2", "node-3")


@pytest.fixture
def cloud(request, rainkit_bin, tmp_path):
    """A cloud of the test's own, with one user and the nodes of NODES."""
    journal = tmp_path / "cloud.ndjson"
    command = [rainkit_bin("cloud-sim"), "--listen", "127.0.0.1:0", "--user", f"{USER}:{PASSWORD}", "--journal", journal]
    for node in NODES:
        command += ["--node", node]
    program = Program(command + _options(request, "rainkit_cloud"), log=tmp_path / "cloud.log")
    yield Cloud(program, journal)
    program.end()


@pytest.fixture
def board(request, rainkit_bin, tmp_path):
    """Starts boards: `board()` is one over HTTP, `board("--console", path)` one on a cable, `board(node="node-1")` one of the cloud's.

    Further words are options of firmware-sim (`firmware-sim --help`); `preset="idf-4.4"` is one of its firmwares.
    """
    started = []

    def start(*options, node=None, preset=None, pop=POP, environment=None):
        number = len(started) + 1
        journal = tmp_path / f"board-{number}.ndjson"
        words = [str(option) for option in options] + _options(request, "rainkit_board")
        if not {"--http", "--console", "--ble", "--on-network", "--usb", "--local-control"} & set(words):
            words += ["--http", "127.0.0.1:0"]
        if "--no-pop" not in words:
            words += ["--pop", pop]
        if not {"--wifi", "--ap"} & set(words):
            words += ["--wifi", f"{SSID}:{PASSPHRASE}"]
        if preset := preset or request.config.getini("rainkit_preset"):
            words += ["--preset", preset]
        if node:
            words += request.getfixturevalue("cloud").board_options(node)
        command = [rainkit_bin("firmware-sim"), "--journal", journal] + words
        program = Program(command, environment, tmp_path / f"board-{number}.log")
        started.append(program)
        return Board(program, journal, pop)

    yield start
    for program in reversed(started):
        program.end()


@pytest.fixture
def bluetooth(tmp_path, monkeypatch):
    """A system bus of the test's own, on which `board("--ble")` plays BlueZ: bleak, bluetoothctl and rainctl take it for the real one.

    DBUS_SYSTEM_BUS_ADDRESS names it, for this process and those that it starts. Needs dbus-daemon, and no radio.
    """
    # Paths of sockets are short.
    folder = pathlib.Path(os.path.realpath(tmp_path))
    configuration = folder / "bus.conf"
    configuration.write_text(f"""<busconfig><type>system</type><listen>unix:tmpdir=/tmp</listen><auth>EXTERNAL</auth>
<policy context="default"><allow send_destination="*"/><allow receive_sender="*"/><allow own="*"/><allow user="*"/></policy></busconfig>""")
    program = Program(
        ["dbus-daemon", "--nofork", "--print-address=1", f"--config-file={configuration}"], log=folder / "bus.log")
    monkeypatch.setenv("DBUS_SYSTEM_BUS_ADDRESS", program.ready["line"])
    yield program.ready["line"]
    program.end()
