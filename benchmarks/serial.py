# SPDX-License-Identifier: Apache-2.0
"""The rows over a cable: how much of an exchange at 115,200 baud is the wire's own time, and how long a maker waits who plugs in a board on
the chip's own USB, which only prints. The official client has no way over a cable to compare with."""

import os
import threading

from processes import Run, Simulator, journal

BAUD = 115_200
# Of a board that is plugged in: how long it boots, and how long it takes to join, in seconds.
BOOT, JOIN = 1.0, 1.4


class Serial:
    def __init__(self, bench, board):
        self.bench = bench
        self.options = bench.options
        self.folder = bench.folder
        self.board = board
        self.runs = 0

    def run(self):
        for dialect, association in (("protocomm", "user"), ("protocomm", "ch-resp"), ("rainmaker", "ch-resp")):
            runs = [self.wire(dialect, association) for _ in range(max(3, self.options.count // 2))]
            name = f"serial, {dialect} console" + (", challenge" if association == "ch-resp" else "")
            row = self.bench.row
            row(f"{name}: bytes on the wire", "", [run["bytes"] for run in runs], None, "", 0)
            row("  time on the wire", "ms", [run["busy"] for run in runs], None, "", 0)
            row("  exchange: first byte to accepted Wi-Fi", "ms", [run["total"] for run in runs], None, "", 0)
            share = [100 * run["busy"] / run["total"] for run in runs]
            row("  the wire's share", "%", share, None, "≥ 80 %", 0)
        verdicts = [self.plug_in() for _ in range(max(3, self.options.count // 2))]
        self.bench.row(
            f"chip's own USB, plugged in to verdict, boot {BOOT} s, D = {JOIN} s", "s", verdicts, None,
            f"≤ {BOOT + JOIN + 1:.1f} s", 2)

    def arguments(self, dialect, association):
        node = self.bench.cloud.ready["nodes"]["bench-node-0001"]
        cloud = self.bench.cloud.ready
        return [
            self.options.firmware, "--console-dialect", dialect, "--console-noise", "none", "--mapping", association,
            "--pop", self.board["pop"], "--wifi", f"{self.board['ssid']}:{self.board['passphrase']}", "--node-id",
            "bench-node-0001", "--cert", node["cert"], "--key", node["key"], "--mqtt", cloud["mqtt"], "--ca", cloud["ca"],
        ]

    def provision(self, *more, environment=None):
        return Run(
            [self.options.rainctl, "provision", "--pop-file", f"{self.folder}/pop", "--ssid", self.board["ssid"],
             "--passphrase-file", f"{self.folder}/wifi", *more],
            {**self.bench.ours_environment, **(environment or {})}, limit=60)

    def wire(self, dialect, association):
        """From the first byte that is typed to the answer that accepts the Wi-Fi settings."""
        self.runs += 1
        path, port = f"{self.folder}/serial-{self.runs}.ndjson", f"{self.folder}/serial-{self.runs}"
        with Simulator(
            *self.arguments(dialect, association), "--security", "1", "--console", port, "--console-fault", f"baud={BAUD}",
            "--boot-log", "silent", "--join-delay", "0.2", "--journal", path,
        ):
            run = self.provision("--port", port)
        self.bench.check([run])
        entries = journal(path)
        accepted = next(entry["t"] for entry in entries if entry.get("change") == "credentials_received")
        wire = [entry for entry in entries if entry["event"] == "wire"]
        first = next(entry for entry in wire if entry["received"] > 0)
        last = next(entry for entry in wire if entry["t"] >= accepted)
        # Up to the first entry only its own bytes were on the wire, so that is when the exchange began.
        began = first["t"] - first["busy_ms"]
        return {
            "bytes": last["received"] + last["sent"], "busy": last["busy_ms"], "total": last["t"] - began,
        }

    def plug_in(self):
        """A run waits for a board; then a port appears, and its board boots and only prints."""
        self.runs += 1
        root = f"{self.folder}/system-{self.runs}"
        interface = f"{root}/sys/devices/usb1/1-1/1-1:1.0"
        for path in (f"{root}/dev", f"{root}/proc", f"{root}/run/udev/data", f"{root}/sys/class/tty/ttyACM0", interface):
            os.makedirs(path)
        for name, text in (("idVendor", "303a"), ("idProduct", "1001"), ("serial", "7C:DF:A1:00:00:01")):
            with open(f"{root}/sys/devices/usb1/1-1/{name}", "w") as file:
                file.write(text + "\n")
        os.symlink(interface, f"{root}/sys/class/tty/ttyACM0/device")
        result = {}

        def wait_for_it():
            result["run"] = self.provision(
                "--transport", "serial", "--wait", "--device-host", "192.168.4.1:80",
                environment={"RAINKIT_SYSTEM_ROOT": root})

        waiting = threading.Thread(target=wait_for_it)
        waiting.start()
        with Simulator(
            *self.arguments("log-only", "ch-resp"), "--security", "2", "--console", f"{root}/dev/ttyACM0",
            "--http", "192.168.4.1:80", "--boot-log", "led-light", "--boot-delay", BOOT, "--join-delay", JOIN,
        ) as simulator:
            waiting.join()
        self.bench.check([result["run"]])
        return result["run"].ended - simulator.since
