# SPDX-License-Identifier: Apache-2.0
"""The rows of `rainctl batch`: hundreds of boards over the simulated radio, with a record on disk, beside the official client in a loop."""

import json
import sys
from collections import Counter

from processes import Bus, Run, Simulator, journal, peak_memory

# The time that a board takes to join its network, in seconds: the median of real boards.
JOIN_DELAY = 3.6


class Batch:
    def __init__(self, bench, account):
        self.bench = bench
        self.options = bench.options
        self.folder = bench.folder
        self.account = account
        self.radios = 0

    def run(self):
        many = self.options.batch_boards
        groups = {f"batch{index}": count for index, count in enumerate([200] * 3 + [many, 1])}
        groups["loop"] = self.options.official_loop
        names = [f"{group}-{10_000 + index}" for group, count in groups.items() for index in range(count)]
        self.cloud_journal = f"{self.folder}/batch-cloud.ndjson"
        cloud = Simulator(
            self.options.cloud, "--listen", "127.0.0.1:0", "--user", f"{self.account['user']}:{self.account['password']}",
            "--journal", self.cloud_journal, *[word for name in names for word in ("--node", name)])
        with Bus(self.folder) as bus, cloud as self.cloud:
            self.environment = bus.client
            self.bench.sign_in_at("batch", cloud.ready["api"])
            for group in groups:
                nodes = {name: node for name, node in cloud.ready["nodes"].items() if name.startswith(group + "-")}
                with open(f"{self.folder}/nodes-{group}.json", "w") as file:
                    json.dump({"nodes": nodes}, file)
            fifties = [self.batch(f"batch{index}", 200, 50) for index in range(3)]
            thousand = self.batch("batch3", many, many)
            with self.radio("batch4", 1) as radio:
                one = peak_memory(self.options.peak, self.command(radio, 1), self.ours)
            loop = self.loop() if self.options.official_loop else None

        row = self.bench.row
        row(f"batch: 200 boards, 50 at once, D = {JOIN_DELAY} s", "s", [run.wall for run in fifties], None, "≤ 17.3 s", 1)
        row("  seconds a board, official: one after another", "s", [run.wall / 200 for run in fifties], loop, "", 3, paired=False)
        row("  CPU a board", "ms", [run.cpu * 1000 / 200 for run in fifties], None, "≤ 15 ms", 1)
        row(f"batch: {many} boards, all at once, D = {JOIN_DELAY} s", "s", [thousand.wall], None, f"all {many} confirmed", 1)
        row("  CPU a board", "ms", [thousand.cpu * 1000 / many], None, "≤ 15 ms", 1)
        row("  memory a board", "KiB", [(thousand.peak - one) * 1024 / (many - 1)], None, "≤ 250 KiB", 0)

    @property
    def ours(self):
        return {**self.bench.ours_environment, **self.environment}

    def radio(self, group, count):
        self.radios += 1
        return Simulator(
            self.options.firmware, "--ble", "--boards", count, "--nodes", f"{self.folder}/nodes-{group}.json", "--security", "1",
            "--mapping", "ch-resp", "--join-delay", JOIN_DELAY, "--wifi",
            f"{self.account['ssid']}:{self.account['passphrase']}", "--pop", self.account["pop"], "--mqtt",
            self.cloud.ready["mqtt"], "--ca", self.cloud.ready["ca"], "--seed", "1", environment=self.environment)

    def command(self, radio, at_once):
        """A batch of all boards of the radio."""
        path = f"{self.folder}/boards-{self.radios}.csv"
        with open(path, "w") as file:
            file.write("name,transport,pop\n")
            file.writelines(f"{board['name']},ble,{board['pop']}\n" for board in radio.ready["ble"]["boards"])
        return [
            self.options.rainctl, "batch", "run", path, "--at-once", str(at_once), "--ssid", self.account["ssid"],
            "--passphrase-file", f"{self.folder}/wifi", "--json"]

    def batch(self, group, count, at_once):
        with self.radio(group, count) as radio:
            run = Run(self.command(radio, at_once), self.ours, limit=900)
            nodes = [board["node_id"] for board in radio.ready["ble"]["boards"]]
        self.bench.check([run])
        confirmed = Counter(
            entry["node"] for entry in journal(self.cloud_journal)
            if entry.get("event") == "mapping" and entry.get("state") == "confirmed")
        wrong = [node for node in nodes if confirmed[node] != 1]
        if wrong:
            sys.exit(f"{len(wrong)} of {count} boards are not confirmed exactly once: {wrong[:5]}")
        return run

    def loop(self):
        """The official client's seconds for each board, one after another, as people script it."""
        with self.radio("loop", self.options.official_loop) as radio:
            runs = [
                Run([
                    self.options.official, "provision", "--transport", "ble", "--device_name", board["name"], "--pop",
                    self.account["pop"], "--ssid", self.account["ssid"], "--passphrase", self.account["passphrase"], "--no-retry"],
                    {**self.bench.official_environment, **self.environment}, limit=120)
                for board in radio.ready["ble"]["boards"]]
        return [run.wall for run in runs]
