# SPDX-License-Identifier: Apache-2.0
"""The rows over Bluetooth: one board, fifty at once, and a thousand with faults, on a bus and a radio of the benchmark's own."""

import json
import sys
from concurrent.futures import ThreadPoolExecutor

from processes import Bus, Run, Simulator, journal

# D of the rows with many boards, in seconds.
FLEET_JOINS = 0.4
FAULTS = ("abort=0.35", "lose=0.05", "stale=0.2", "disconnect=0.2")


class Bluetooth:
    def __init__(self, bench, account):
        self.bench = bench
        self.options = bench.options
        self.folder = bench.folder
        self.account = account
        self.radios = 0

    def run(self):
        """Needs profiles of both clients that are switched to the cloud given, and signed in."""
        groups = {"one": 1, "many": 50, "faults": self.options.fleet_boards, "theirs": self.options.official_boards}
        names = [f"{group}-{10_000 + index}" for group, count in groups.items() for index in range(count)]
        cloud = Simulator(
            self.options.cloud, "--listen", "127.0.0.1:0", "--user", f"{self.account['user']}:{self.account['password']}",
            "--journal", f"{self.folder}/radio-cloud.ndjson", *[word for name in names for word in ("--node", name)])
        with Bus(self.folder) as bus, cloud as self.cloud:
            self.environment = bus.client
            for group in groups:
                nodes = {name: node for name, node in cloud.ready["nodes"].items() if name.startswith(group + "-")}
                with open(f"{self.folder}/nodes-{group}.json", "w") as file:
                    json.dump({"nodes": nodes}, file)
            self.bench.sign_in_at("radio", cloud.ready["api"])
            self.one_board()
            self.at_once()
            self.with_faults()

    def radio(self, group, count, *more):
        self.radios += 1
        self.radio_journal = f"{self.folder}/radio-{self.radios}.ndjson"
        faults = [word for fault in more for word in ("--ble-fault", fault)]
        # Where a link is lost for good as a board joins, its connection to the cloud tells what became of it.
        if faults:
            faults += ["--mqtt", self.cloud.ready["mqtt"], "--ca", self.cloud.ready["ca"]]
        return Simulator(
            self.options.firmware, "--ble", "--boards", count, "--nodes", f"{self.folder}/nodes-{group}.json",
            "--security", "1", "--mapping", "ch-resp", "--join-delay", FLEET_JOINS, "--wifi", f"{self.account['ssid']}:{self.account['passphrase']}", "--pop",
            self.account["pop"], "--journal", self.radio_journal, "--seed", "1", *faults, environment=self.environment)

    # One board, one client after the other

    def one_board(self):
        node = self.cloud.ready["nodes"]["one-10000"]

        def with_board(security, client):
            self.radios += 1
            path = f"{self.folder}/radio-{self.radios}.ndjson"
            board = Simulator(
                self.options.firmware, "--ble", "--security", security, "--mapping", "user", "--pop", self.account["pop"], "--wifi",
                f"{self.account['ssid']}:{self.account['passphrase']}", "--join-delay", 0, "--node-id", "one-10000",
                "--mqtt", self.cloud.ready["mqtt"], "--ca", self.cloud.ready["ca"], "--cert", node["cert"], "--key",
                node["key"], "--seed", self.radios, "--journal", path, environment=self.environment)
            with board:
                run = client(board.ready["ble"]["boards"][0]["name"])
            # The official client's exit status is 0 whatever happened.
            if not {"user_mapping_received", "joined"} <= {entry.get("change") for entry in journal(path)}:
                sys.exit(f"no board was set up over Bluetooth:\n{run.output}")
            return run

        for security in (1, 2):
            ours, theirs = self.bench.pairs(
                max(2, self.options.count // 2 + 1),
                lambda: with_board(security, self.provision_ours),
                lambda: with_board(security, self.provision_official))
            self.bench.check(ours)
            self.bench.row(
                f"provision over Bluetooth, Security {security}, D = 0 s", "s", [run.wall for run in ours],
                [run.wall for run in theirs], "")

    def provision_ours(self, name):
        return Run(
            [self.options.rainctl, "provision", "--transport", "ble", "--device-name", name, "--pop-file",
             f"{self.folder}/pop", "--ssid", self.account["ssid"], "--passphrase-file", f"{self.folder}/wifi"],
            {**self.bench.ours_environment, **self.environment}, limit=120)

    def provision_official(self, name):
        return Run(
            [self.options.official, "provision", "--transport", "ble", "--device_name", name, "--pop",
             self.account["pop"], "--ssid", self.account["ssid"], "--passphrase", self.account["passphrase"],
             "--no-retry"],
            {**self.bench.official_environment, **self.environment}, limit=90)

    # Many boards in one process

    def fleet(self, boards, at_once):
        order = {
            "api": self.cloud.ready["api"], "user": self.account["user"], "password": self.account["password"],
            "ssid": self.account["ssid"], "passphrase": self.account["passphrase"], "atOnce": at_once, "timeout": 120,
            "boards": [{"address": board["address"], "proofOfPossession": board["pop"]} for board in boards],
        }
        run = Run(
            [self.options.fleet], {**self.bench.ours_environment, **self.environment}, json.dumps(order), limit=1800)
        self.bench.check([run], who="fleet")
        lines = [json.loads(line) for line in run.output.splitlines() if line.startswith("{")]
        return [line for line in lines if line["event"] == "board"], lines[-1]

    def at_once(self):
        """Fifty boards against one: the same process, the same radio but for the number of boards in it."""
        def cost(count):
            with self.radio("many", count) as radio:
                boards, done = self.fleet(radio.ready["ble"]["boards"], count)
            failures = [board for board in boards if not board["ok"]]
            if failures or done["boards"] != count:
                sys.exit(f"{done['provisioned']} of {count} boards were provisioned without a fault: {failures}")
            return done

        rounds = max(3, self.options.count)
        ones, fifties = [], []
        for _ in range(rounds):
            ones.append(cost(1))
            fifties.append(cost(50))
        added = lambda runs: [(run["kib_peak"] - run["kib_before"]) / 1024 for run in runs]
        row = self.bench.row
        row("1 board over Bluetooth, added memory", "MB", added(ones), None, "", 2)
        row("50 boards at once, added memory", "MB", added(fifties), None, "", 2)
        times = [many / one for many, one in zip(added(fifties), added(ones))]
        row("50 boards at once, added memory against 1 board's", "×", times, None, "≤ 60", 1)
        cpu = lambda runs: [run["cpu"] * 1000 / run["boards"] for run in runs]
        row("1 board over Bluetooth, CPU", "ms", cpu(ones), None, "", 1)
        row("50 boards at once, CPU per board", "ms", cpu(fifties), None, "", 1)
        row(f"1 board over Bluetooth, in a running process, D = {FLEET_JOINS} s", "s", [run["seconds"] for run in ones], None, "", 2)
        row(f"50 boards at once, all of them, D = {FLEET_JOINS} s", "s", [run["seconds"] for run in fifties], None, "", 2)
        slowness = [run["seconds"] / run["slowest"] for run in fifties]
        row("50 boards at once, all against the slowest", "×", slowness, None, "≤ 1.5", 2)

    # Faults

    def provisioned(self, radio):
        """The boards that are in the account and on their network, as the two simulators' journals have it."""
        entries = journal(self.radio_journal)
        joined = {entry["board"] for entry in entries if entry.get("change") == "joined"}
        mapped = [
            entry["node"] for entry in journal(f"{self.folder}/radio-cloud.ndjson")
            if entry.get("event") == "mapping" and entry.get("state") == "confirmed"]
        boards = radio.ready["ble"]["boards"]
        twice = [board["node_id"] for board in boards if mapped.count(board["node_id"]) > 1]
        if twice:
            sys.exit(f"mapped more than once: {twice}")
        known = set(mapped)
        count = sum(1 for board in boards if board["name"] in joined and board["node_id"] in known)
        faults = [entry.get("what") for entry in entries if entry.get("event") == "fault"]
        return count, faults.count("abort"), faults.count("lose")

    def with_faults(self):
        def text(count, of, aborted, lost):
            return f"{100 * count / of:.1f} ({count} of {of}; {aborted} aborted, {lost} lost)"

        with self.radio("faults", self.options.fleet_boards, *FAULTS) as radio:
            boards, done = self.fleet(radio.ready["ble"]["boards"], 25)
        found = self.provisioned(radio)
        ours = text(found[0], done["boards"], *found[1:])
        seconds = [board["seconds"] for board in boards]
        theirs, walls = "–", None
        if self.options.official_boards:
            with self.radio("theirs", self.options.official_boards, *FAULTS) as radio:
                with ThreadPoolExecutor(self.options.official_at_once) as clients:
                    names = [board["name"] for board in radio.ready["ble"]["boards"]]
                    runs = list(clients.map(self.provision_official, names))
            found = self.provisioned(radio)
            theirs = text(found[0], len(names), *found[1:])
            walls = [run.wall for run in runs]
        self.bench.rows.append(
            ("boards set up, of every 100 connects 35 aborted", "%", ours, theirs, "", "≥ 99.9 %"))
        print(f"  with faults: {ours}, official {theirs}", file=sys.stderr)
        self.bench.row("  a board's time, failed or not", "s", seconds, walls, "", 1, paired=False)
