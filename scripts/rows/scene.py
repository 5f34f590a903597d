# SPDX-License-Identifier: Apache-2.0
"""The tools of each row: a separate folder, the programs, and checks that fail with a sentence."""
import json
import os
import pathlib
import queue
import shutil
import subprocess
import tempfile
import threading
import urllib.request

from rows.failure import Failed
from rows.tap import Tap

# A limit for programs that hang. No working program takes so long, on any machine.
LIMIT = 300

_processes = set()
_lock = threading.Lock()
_stopped = threading.Event()


def expect(condition, text):
    if not condition:
        raise Failed(text)


def equal(found, wanted, what):
    expect(found == wanted, f"{what} is {found!r} and not {wanted!r}")


def contains(text, part, what):
    expect(part in text, f"{what} does not contain {part!r}")


def lacks(text, part, what):
    expect(part not in text, f"{what} contains {part!r}")


def stop_all():
    """Asks every started process to end, by its id. The scenes wait for them."""
    _stopped.set()
    with _lock:
        for process in _processes:
            process.terminate()


def _start(arguments, **more):
    with _lock:
        if _stopped.is_set():
            raise Failed("interrupted")
        process = subprocess.Popen(arguments, **more)
        _processes.add(process)
    return process


def _ended(process):
    with _lock:
        _processes.discard(process)


def eventually(condition, what):
    """Waits for an event of another process."""
    for _ in range(LIMIT * 100):
        if condition():
            return
        if _stopped.wait(0.01):
            raise Failed("interrupted")
    raise Failed(f"{what} does not come")


def lines_of(text):
    """Returns the JSON lines in a text; other lines are left out."""
    found = []
    for line in text.splitlines():
        if line.startswith("{"):
            try:
                found.append(json.loads(line))
            except ValueError:
                continue
    return found


class Outcome:
    """The output of a command, and its exit status."""

    def __init__(self, arguments, status, output, error):
        self.arguments, self.status, self.output, self.error = arguments, status, output, error

    @property
    def json(self):
        try:
            return json.loads(self.output)
        except ValueError:
            raise Failed("standard output is not one JSON document") from None

    @property
    def failure(self):
        return self.json.get("error") or {} if self.output.lstrip().startswith("{") else {}

    @property
    def events(self):
        return [line for line in lines_of(self.output + "\n" + self.error) if "state" in line and "ts" in line]

    @property
    def text(self):
        return self.output + self.error

    def __str__(self):
        words = " ".join(f"'{word}'" if " " in word or not word else word for word in self.arguments)
        return f"$ rainctl {words}\n{self.output}{self.error}(exit {self.status})"


class Running:
    """A command that waits for a person at a sign-in page."""

    def __init__(self, scene, arguments, environment):
        self.scene, self.arguments = scene, arguments
        self.process = _start(
            [scene.program("rainctl"), *arguments], env=environment, text=True, stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.output, self.error, self._lines = [], [], queue.Queue()
        self.threads = [
            threading.Thread(target=self._read, args=(self.process.stdout, self.output), daemon=True),
            threading.Thread(target=self._read, args=(self.process.stderr, self.error), daemon=True),
        ]
        for thread in self.threads:
            thread.start()

    def _read(self, stream, into):
        for line in stream:
            into.append(line)
            if into is self.error:
                self._lines.put(line)
        if into is self.error:
            self._lines.put(None)

    def page(self):
        """Returns the address to open in a browser."""
        while (line := self._lines.get(timeout=LIMIT)) is not None:
            for word in line.split():
                if word.startswith(("http://", "https://")):
                    return word
        raise Failed("no sign-in page was printed", self.end(status=None))

    def end(self, status=0, reason=None, typed=None):
        """Writes `typed` to standard input, and waits for the end."""
        if typed is not None:
            self.process.stdin.write(typed + "\n")
        try:
            self.process.stdin.close()
        except BrokenPipeError:
            pass
        try:
            self.process.wait(timeout=LIMIT)
        except subprocess.TimeoutExpired:
            raise Failed("the command does not end") from None
        finally:
            self.stop()
        outcome = Outcome(self.arguments, self.process.returncode, "".join(self.output), "".join(self.error))
        return self.scene.judge(outcome, status, reason)

    def stop(self):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        for thread in self.threads:
            thread.join()
        for stream in (self.process.stdout, self.process.stderr, self.process.stdin):
            try:
                stream.close()
            except BrokenPipeError:
                pass
        _ended(self.process)


class Simulator:
    """A simulated system, which is controlled and read over its own port."""

    def __init__(self, url, journal):
        self.url, self._journal = url, journal

    def control(self, name, body):
        request = urllib.request.Request(
            f"{self.url}/_sim/{name}", json.dumps(body).encode(), {"Content-Type": "application/json"})
        with urllib.request.urlopen(request, timeout=LIMIT) as answer:
            answer.read()

    def clock(self, seconds):
        self.control("clock", {"offset": seconds})

    def faults(self, *rules):
        self.control("faults", {"rules": list(rules)})

    def journal(self, **members):
        """Returns the entries with these members, such as `event="mapping"`."""
        path = pathlib.Path(self._journal)
        entries = lines_of(path.read_text()) if path.exists() else []
        return [entry for entry in entries if all(entry.get(name) == value for name, value in members.items())]


class Scene:
    """One user at one machine. All its processes and files are removed when the row ends."""

    def __init__(self, programs):
        self.programs = pathlib.Path(programs)
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="rows-"))
        self.outcomes, self.running, self.started, self.taps = [], [], [], []
        (self.folder / "run").mkdir(mode=0o700)
        self.environment = {
            "PATH": os.environ.get("PATH", "/usr/bin:/bin"), "HOME": str(self.folder), "NO_COLOR": "1",
            "TMPDIR": str(self.folder), "XDG_CONFIG_HOME": self.path("config"), "XDG_STATE_HOME": self.path("state"),
            "XDG_DATA_HOME": self.path("data"), "XDG_CACHE_HOME": self.path("cache"),
            "XDG_RUNTIME_DIR": self.path("run"), "XDG_CONFIG_DIRS": self.path("machine"),
            # The machine's own keyring, radios and displays are not part of a row.
            "DBUS_SESSION_BUS_ADDRESS": "", "DBUS_SYSTEM_BUS_ADDRESS": "unix:path=/nonexistent/bus",
            "RAINKIT_STORE": "file",
        }

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for one in self.running:
            one.stop()
        for tap in self.taps:
            tap.close()
        for process in self.started:
            process.terminate()
        for process in self.started:
            try:
                process.wait(timeout=LIMIT)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
            process.stdout.close()
            _ended(process)
        shutil.rmtree(self.folder)

    def part(self):
        """Another user at another machine, within the same row."""
        part = Scene(self.programs)
        part.outcomes = self.outcomes
        return part

    def path(self, name):
        return str(self.folder / name)

    def file(self, name, text):
        """A private file, such as one with a password."""
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        path.chmod(0o600)
        return str(path)

    def program(self, name):
        return str(self.programs / name)

    # Commands

    def rainctl(self, *arguments, status=0, reason=None, typed="", environment=None):
        """Runs a command and judges its exit code and, in a JSON error, its reason."""
        process = _start(
            [self.program("rainctl"), *arguments], env=self.environment | (environment or {}), text=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        try:
            output, error = process.communicate(typed, timeout=LIMIT)
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
            raise Failed(f"rainctl {' '.join(arguments)} does not end") from None
        finally:
            _ended(process)
        return self.judge(Outcome(list(arguments), process.returncode, output, error), status, reason)

    def judge(self, outcome, status, reason):
        self.outcomes.append(outcome)
        words = " ".join(word for word in outcome.arguments[:2] if not word.startswith("-"))
        if status is not None:
            expect(outcome.status == status, f"rainctl {words} ends with {outcome.status} and not {status}")
        if reason is not None:
            equal(outcome.failure.get("reason"), reason, f"the reason of rainctl {words}")
        return outcome

    def start(self, *arguments, environment=None):
        running = Running(self, list(arguments), self.environment | (environment or {}))
        self.running.append(running)
        return running

    # Simulators

    def _simulate(self, program, *arguments):
        process = _start(
            [self.program(program), *arguments], env=self.environment, text=True, stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL)
        self.started.append(process)
        lines = queue.Queue()
        threading.Thread(target=lambda: lines.put(process.stdout.readline()), daemon=True).start()
        try:
            line = lines.get(timeout=LIMIT)
        except queue.Empty:
            line = ""
        expect(line.startswith("{"), f"{program} does not start")
        return json.loads(line)

    def identity(self, name):
        """One simulated identity system; `backend` is the simulated backend beside it."""
        journal = self.path(f"{name}.ndjson")
        ready = self._simulate("cloud-sim", "identity", "--provider", name, "--journal", journal)
        simulator = Simulator(ready["providers"][name], journal)
        simulator.backend = ready["mapping"]
        return simulator

    def cloud(self, *options):
        journal, mail = self.path("cloud.ndjson"), self.path("cloud.mail")
        ready = self._simulate(
            "cloud-sim", "cloud", "--user", "me@example.com:Correct-h0rse", "--journal", journal, "--mailbox", mail,
            *options)
        simulator = Simulator(ready["api"], journal)
        simulator.ready, simulator.mailbox = ready, pathlib.Path(mail)
        return simulator

    def board(self, *options):
        """A board on its own access point; it hears the network Home."""
        journal = self.path(f"board-{len(self.started)}.ndjson")
        ready = self._simulate(
            "firmware-sim", "--http", "127.0.0.1:0", "--pop", "abcd1234", "--wifi", "Home:correct horse",
            "--join-delay", "0.1", "--journal", journal, *options)
        board = Simulator(None, journal)
        self.file("wifi.txt", "correct horse")
        self.file("pop.txt", "abcd1234")
        board.options = [
            "--transport", "softap", "--device-host", ready["http"], "--pop-file", self.path("pop.txt"), "--ssid",
            "Home", "--passphrase-file", self.path("wifi.txt")]
        return board

    def tap(self, url):
        """An address in front of a server that records what passes."""
        tap = Tap(url)
        self.taps.append(tap)
        return tap

    def opener(self):
        """A browser for `BROWSER` that notes in the file `opened` which address it gets."""
        opener = self.file("opener", f"""#!/bin/sh
printf '%s' "$1" >'{self.path("opened.tmp")}' && mv '{self.path("opened.tmp")}' '{self.path("opened")}'
""")
        (self.folder / "opener").chmod(0o700)
        return {"BROWSER": opener}

    def opened(self, running=None):
        """Returns the address with which the browser was opened, by a command that may still be running."""
        file = self.folder / "opened"
        eventually(
            lambda: file.exists() or running is not None and running.process.poll() is not None, "the browser's address")
        expect(file.exists(), "no browser was opened")
        return file.read_text()

    # Stored files

    def stored(self):
        """Returns the text of all files that rainctl stores."""
        found = []
        for root in ("state", "config", "data", "cache"):
            for path in sorted((self.folder / root).rglob("*")):
                if path.is_file():
                    found.append(path.read_text(errors="replace"))
        return "\n".join(found)

    def sessions(self):
        return sorted((self.folder / "state/rainkit/sessions").glob("*.json"))
