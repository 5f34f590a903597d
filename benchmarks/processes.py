# SPDX-License-Identifier: Apache-2.0
"""Processes that the benchmark measures from outside, and the simulators that it measures them with."""

import fcntl
import json
import os
import pty
import signal
import struct
import subprocess
import sys
import termios
import threading
import time


class Run:
    """One finished process; one that takes longer than its limit, in seconds, is killed."""

    def __init__(self, arguments, environment=None, stdin="", limit=None):
        started = time.monotonic()
        child = subprocess.Popen(
            arguments, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        timer = threading.Timer(limit, child.kill) if limit else None
        if timer:
            timer.start()
        try:
            child.stdin.write(stdin.encode())
            child.stdin.close()
        except BrokenPipeError:
            pass
        self.output = child.stdout.read().decode(errors="replace")
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        if timer:
            timer.cancel()
        self.ended = time.time()
        self.wall = time.monotonic() - started
        self.cpu = usage.ru_utime + usage.ru_stime
        # In MB. At least what this process had when it started the other one.
        self.peak = usage.ru_maxrss / 1024
        self.status = child.returncode


class AtTerminal:
    """One finished process that ran at a terminal of 200 columns."""

    def __init__(self, arguments, environment):
        terminal, end = pty.openpty()
        fcntl.ioctl(end, termios.TIOCSWINSZ, struct.pack("HHHH", 60, 200, 0, 0))
        started = time.monotonic()
        child = subprocess.Popen(
            arguments, env={**environment, "TERM": "xterm-256color"}, stdin=subprocess.DEVNULL, stdout=end, stderr=end)
        os.close(end)
        self.output = ""
        while True:
            try:
                block = os.read(terminal, 1 << 16)
            except OSError:
                break   # nobody has the other end any more
            self.output += block.decode(errors="replace")
        os.close(terminal)
        _, status, usage = os.wait4(child.pid, 0)
        self.status = child.returncode = os.waitstatus_to_exitcode(status)
        self.wall = time.monotonic() - started
        self.peak = usage.ru_maxrss / 1024


def peak_memory(peak, arguments, environment=None):
    """The most memory that a program held, in MB; nothing of this process is in it, as it would be in what the kernel tells us here."""
    reader, writer = os.pipe()
    # Descriptor 3 is where the program in between reports.
    command = f'exec "$0" "$@" 3>&{writer}'
    child = subprocess.Popen(
        ["bash", "-c", command, peak, *arguments], env=environment, stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, pass_fds=[writer])
    os.close(writer)
    with open(reader) as report:
        figure = report.read()
    status = child.wait()
    if status:
        sys.exit(f"{arguments[0]} ended with {status}")
    return int(figure) / 1024


class Simulator:
    """A simulator that runs until the end of a with block."""

    def __init__(self, *arguments, environment=None):
        self.arguments = [str(argument) for argument in arguments]
        self.environment = {**os.environ, **environment} if environment else None

    def __enter__(self):
        self.process = subprocess.Popen(
            self.arguments, env=self.environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL)
        line = self.process.stdout.readline()
        if not line:
            sys.exit(f"{self.arguments[0]} did not start")
        self.ready = self.parse(line)
        self.since = time.time()
        return self

    def parse(self, line):
        return json.loads(line)

    def __exit__(self, *_):
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(10)
        self.process.stdout.close()


class Bus(Simulator):
    """A D-Bus daemon of this benchmark's own; `environment` makes it the system's bus of whoever gets it."""

    CONFIGURATION = """<!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
 "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
<busconfig><type>session</type><listen>unix:path={0}/bus</listen><auth>EXTERNAL</auth>
<policy context="default"><allow send_destination="*" eavesdrop="true"/><allow eavesdrop="true"/><allow own="*"/></policy>
</busconfig>
"""

    def __init__(self, folder):
        with open(f"{folder}/bus.conf", "w") as file:
            file.write(self.CONFIGURATION.format(folder))
        super().__init__("dbus-daemon", "--nofork", "--print-address=1", f"--config-file={folder}/bus.conf")

    def parse(self, line):
        address = line.decode().strip()
        self.client = {"DBUS_SYSTEM_BUS_ADDRESS": address}
        return address


def journal(path):
    with open(path) as lines:
        return [json.loads(line) for line in lines]
