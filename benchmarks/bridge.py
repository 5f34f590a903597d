# SPDX-License-Identifier: Apache-2.0
"""`rainctl bridge` with hundreds of boards, beside a broker (Debian's mosquitto) and the simulated cloud."""

import json
import os
import shutil
import subprocess
import sys
import time

from processes import Run, Simulator

# How long the bridge is idle while its use of the processor is measured, in seconds.
IDLE = 20


class Broker:
    def __init__(self, folder, port):
        self.path, self.port = f"{folder}/broker.conf", port
        with open(self.path, "w") as file:
            file.write(f"listener {port} 127.0.0.1\nallow_anonymous true\nmax_queued_messages 0\nuser root\nlog_type none\n")

    def __enter__(self):
        self.process = subprocess.Popen(
            [shutil.which("mosquitto", path="/usr/sbin:/usr/bin"), "-c", self.path], stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        for _ in range(200):
            if Run(["mosquitto_pub", "-p", str(self.port), "-h", "127.0.0.1", "-t", "ready", "-m", ""]).status == 0:
                return self
            time.sleep(0.05)
        sys.exit("mosquitto did not start")

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait(10)

    def retained(self, topic):
        run = Run(["mosquitto_sub", "-h", "127.0.0.1", "-p", str(self.port), "-t", topic, "--retained-only", "-W", "5", "-F", "%t"])
        # The last line says that the time is over.
        return run.output.count("homeassistant/")


def processor_time(process):
    """Of a running process, in seconds."""
    with open(f"/proc/{process}/stat") as file:
        fields = file.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def peak(process):
    """The most memory that a running process has had, in MB."""
    with open(f"/proc/{process}/status") as file:
        return next(int(line.split()[1]) for line in file if line.startswith("VmHWM")) / 1024


class Bridge:
    def __init__(self, bench, count):
        self.bench, self.count = bench, count
        self.names = [f"bridge-{number:04}" for number in range(count)]

    def run(self):
        bench = self.bench
        cloud = Simulator(
            bench.options.cloud, "--listen", "127.0.0.1:0", "--user", f"{bench.account_name}:{bench.password}",
            *[word for name in self.names for word in ("--node", name)])
        boards = []
        with cloud:
            bench.sign_in_at("bridge", cloud.ready["api"])
            try:
                for name in self.names:
                    boards.append(self.board(cloud, name))
                with Broker(bench.folder, 18_830) as broker:
                    self.measure(broker)
            finally:
                for board in boards:
                    board.__exit__()

    def board(self, cloud, name):
        """A board in the account, which reports to the cloud."""
        bench, node = self.bench, cloud.ready["nodes"][name]
        board = Simulator(
            bench.options.firmware, "--http", "127.0.0.1:0", "--security", "0", "--mapping", "user", "--join-delay", "0",
            "--wifi", f"{bench.ssid}:{bench.passphrase}", "--no-basic-ingest", "--node-id", name, "--mqtt", cloud.ready["mqtt"],
            "--ca", cloud.ready["ca"], "--cert", node["cert"], "--key", node["key"])
        board.__enter__()
        bench.check([bench.rainctl(
            "provision", "--transport", "softap", "--device-host", board.ready["http"], "--ssid", bench.ssid,
            "--passphrase-file", f"{bench.folder}/wifi")])
        return board

    @staticmethod
    def idle_since(process):
        """Waits for the end of the work that follows the start: the broker's acknowledgements, and the first live reports. Returns the
        processor time until then."""
        used = processor_time(process)
        for _ in range(60):
            time.sleep(1)
            now = processor_time(process)
            if now == used:
                return now
            used = now
        sys.exit("the bridge does not become idle")

    def measure(self, broker):
        starts, memory, idle = [], [], []
        for _ in range(3):
            began = time.monotonic()
            bridge = subprocess.Popen(
                [self.bench.options.rainctl, "bridge", f"mqtt://127.0.0.1:{broker.port}", "--json", "--no-local"],
                env=self.bench.ours_environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
            for line in bridge.stdout:
                if json.loads(line).get("event") == "ready":
                    break
            starts.append(time.monotonic() - began)
            before = self.idle_since(bridge.pid)
            time.sleep(IDLE)
            idle.append((processor_time(bridge.pid) - before) / IDLE * 100)
            memory.append(peak(bridge.pid))
            found = broker.retained("homeassistant/light/+/+/config")
            if found != self.count:
                sys.exit(f"{found} of {self.count} boards are discovered")
            bridge.terminate()
            bridge.stdout.close()
            bridge.wait(20)
        row = self.bench.row
        row(f"bridge: {self.count} boards, start to complete discovery", "s", starts, None, "≤ 10 s", 2)
        row("  memory", "MB", memory, None, "≤ 60 MB", 1)
        row("  processor while idle", "%", idle, None, "≤ 1 %", 2)
