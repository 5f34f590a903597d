#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Paired timing of rainctl against the official client, on the same simulators. Run by scripts/bench.

Figures are measured from outside a whole process: wall time from its start to its end, peak memory from the kernel's own
accounting; only the handshake, the exchanges, the thousand calls and the boards of one process are measured inside, by the programs of this
folder and Tests/Fleet. The two clients take turns (A B A B …), so that a machine that slows down slows both; the ratio is that
of each pair. Nothing here judges: the promises stand beside the figures.
"""

import argparse
import contextlib
import json
import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

from batch import Batch
from before import Before
from bluetooth import Bluetooth
from bridge import Bridge
from c_library import CLibrary
from ledger import Ledger
from processes import AtTerminal, Run, Simulator, journal, peak_memory
from serial import Serial

USER, PASSWORD = "bench@example.com", "Passw0rd-bench"
MANY_RECORDS = 100_000
POP, SSID, PASSPHRASE = "abcd1234", "HomeNet", "correct horse"
# What the rows have always measured, whatever firmware-sim's own defaults are: a mapping by secret, and the first verdict is the last.
ONE_ATTEMPT = ("--mapping", "user", "--attempts", "0", "--no-reset-on-failure")


ROWS = ("rest", "nodes", "serial", "library", "bluetooth", "batch", "ledger", "bridge")


class Bench:
    def __init__(self, options, folder):
        self.options = options
        self.folder = folder
        self.rows = []
        self.ours_environment = {
            "PATH": os.environ["PATH"], "HOME": folder, "XDG_STATE_HOME": f"{folder}/state",
            "XDG_CONFIG_HOME": f"{folder}/config",
        }
        self.official_environment = {
            "PATH": os.environ["PATH"], "HOME": folder, "RM_USER_CONFIG_DIR": f"{folder}/official",
            "RMAKER_CLI_LOG_DIR": f"{folder}/logs", "ESP_RAINMAKER_PASSWORD": PASSWORD,
        }
        os.makedirs(f"{folder}/official", exist_ok=True)
        os.makedirs(f"{folder}/logs", exist_ok=True)
        for name, text in (("password", PASSWORD), ("pop", POP), ("wifi", PASSPHRASE), ("wrong", "not the passphrase")):
            with open(f"{folder}/{name}", "w") as file:
                file.write(text)
        self.account_name, self.password = USER, PASSWORD
        self.pop, self.ssid, self.passphrase = POP, SSID, PASSPHRASE
        self.boards = 0
        self.cloud_journal = f"{folder}/cloud.ndjson"

    # How each client is called

    def rainctl(self, *arguments):
        return Run([self.options.rainctl, *arguments], self.ours_environment)

    def official(self, *arguments, stdin=""):
        return Run([self.options.official, *arguments], self.official_environment, stdin)

    def provisioning(self, passphrase="wifi"):
        return (
            "provision", "--transport", "softap", "--device-host", "192.168.4.1:80", "--pop-file", f"{self.folder}/pop",
            "--ssid", SSID, "--passphrase-file", f"{self.folder}/{passphrase}")

    def provision_ours(self, passphrase="wifi"):
        return self.rainctl(*self.provisioning(passphrase))

    def provision_official(self, passphrase=PASSPHRASE):
        return self.official(
            "provision", "--transport", "softap", "--pop", POP, "--ssid", SSID, "--passphrase", passphrase, "--no-retry",
            stdin="\n")

    def board(self, security, delay):
        node = self.cloud.ready["nodes"]["bench-node-0001"]
        return (
            self.options.firmware, "--http", "192.168.4.1:80", "--security", security, *ONE_ATTEMPT, "--pop", POP, "--wifi",
            f"{SSID}:{PASSPHRASE}", "--join-delay", delay, "--node-id", "bench-node-0001", "--mqtt",
            self.cloud.ready["mqtt"], "--ca", self.cloud.ready["ca"], "--cert", node["cert"], "--key", node["key"])

    # One board for each run: what an earlier client left must not help the next.

    def with_board(self, security, delay, client):
        self.boards += 1
        path = f"{self.folder}/board-{self.boards}.ndjson"
        with Simulator(*self.board(security, delay), "--journal", path) as board:
            run = client()
        run.journal = journal(path)
        # The journal counts milliseconds from the board's start; its ready line was read at a known time.
        times = {entry.get("change") or entry["event"]: entry["t"] for entry in run.journal}
        applied = board.since + (times.get("credentials_received", float("nan")) - times["ready"]) / 1000
        run.since_apply = run.ended - applied
        return run

    # Figures

    def pairs(self, count, ours, theirs):
        ours_runs, their_runs = [], []
        for _ in range(count):
            ours_runs.append(ours())
            their_runs.append(theirs())
        return ours_runs, their_runs

    def row(self, what, unit, ours, theirs, promise, decimals=3, paired=True):
        text = f"{{:.{decimals}f}}".format
        def spread(values):
            return f"{text(statistics.median(values))} ({text(min(values))}–{text(max(values))})"
        ratio = ""
        if theirs:
            ratios = (
                [b / a for a, b in zip(ours, theirs) if a > 0] if paired
                else [statistics.median(theirs) / statistics.median(ours)])
            ratio = f"{statistics.median(ratios):.{1 if statistics.median(ratios) > 3 else 2}f}×" if ratios else "–"
        self.rows.append((what, unit, spread(ours), spread(theirs) if theirs else "–", ratio, promise))
        print(f"  {what}: {spread(ours)} {unit}", file=sys.stderr)

    def cold_start(self):
        count = self.options.count * 4
        ours, theirs = self.pairs(count, lambda: self.rainctl("--help"), lambda: self.official("--help"))
        beside_curl, curl = self.pairs(count, lambda: self.rainctl("--help"), lambda: Run(["curl", "--version"]))
        self.check([*ours, *beside_curl])
        self.check(theirs, who="the official client")
        self.check(curl, who="curl")
        ms = lambda runs: [run.wall * 1000 for run in runs]
        self.row("cold start, --help", "ms", ms(ours), ms(theirs), "≤ 1/25 of theirs", 1)
        self.row("cold start, against curl --version", "ms", ms(beside_curl), ms(curl), "≤ 1.3 × curl (right)", 1)
        ours, theirs = self.pairs(
            count, lambda: peak_memory(self.options.peak, [self.options.rainctl, "--help"], self.ours_environment),
            lambda: peak_memory(self.options.peak, [self.options.official, "--help"], self.official_environment))
        self.row("cold start, peak memory", "MB", ours, theirs, "≤ 1/2", 1)

    def sign_in(self):
        ours, theirs = self.pairs(
            self.options.count,
            lambda: self.rainctl("login", USER, "--password-file", f"{self.folder}/password"),
            self.sign_in_official)
        self.check(ours)
        self.check_official(theirs, lambda run: any(entry["event"] == "login" for entry in run.journal))
        self.row("sign-in", "s", [r.wall for r in ours], [r.wall for r in theirs], "")

    def provision(self):
        for delay in (0, 1.0, 5.2):
            count = self.options.count if delay == 0 else max(2, self.options.count // 2)
            ours, theirs = self.pairs(
                count, lambda: self.with_board(1, delay, self.provision_ours),
                lambda: self.with_board(1, delay, self.provision_official))
            self.check(ours)
            self.check_official(theirs, lambda run: self.changed(run, "joined"))
            promise = "≤ 1/12 of theirs" if delay == 0 else ""
            self.row(f"provision, D = {delay} s", "s", [r.wall for r in ours], [r.wall for r in theirs], promise)
            since = lambda runs: [r.since_apply for r in runs]
            self.row(
                f"  accepted Apply to done, D = {delay} s", "s", since(ours), since(theirs), f"≤ {delay + 0.3:.1f} s")
            if delay == 0:
                requests = lambda runs: [self.requests(r.journal) for r in runs]
                self.row("requests to the board, with mapping", "", requests(ours), requests(theirs), "≤ 7", 0)

    def wrong_password(self):
        count = max(2, self.options.count // 2)
        ours, theirs = self.pairs(
            count, lambda: self.with_board(1, 1.0, lambda: self.provision_ours("wrong")),
            lambda: self.with_board(1, 1.0, lambda: self.provision_official("not the passphrase")))
        self.check(ours, 11)
        self.check_official(
            theirs, lambda run: self.changed(run, "join_failed") and not self.changed(run, "joined"))
        self.row(
            "wrong Wi-Fi password, D = 1.0 s", "s", [r.wall for r in ours], [r.wall for r in theirs], "≤ D + 0.3 s after Apply")
        since = lambda runs: [r.since_apply for r in runs]
        self.row("  accepted Apply to the verdict", "s", since(ours), since(theirs), "≤ 1.3 s")

    def exchanges(self):
        """One exchange after the other with a board that sends its answers in pieces: the second piece waits for an acknowledgement, which
        a socket that is used again sends 40 ms late."""
        with Simulator(self.options.firmware, "--http", "192.168.4.1:80", "--security", "1", "--pop", POP):
            ours = self.lines(Run([self.options.exchanges, "192.168.4.1", "80", "200"]))
        self.row("exchange with the board over HTTP", "ms", ours, None, "≤ 1 ms", 2)

    def handshake(self):
        """CPU time of the client's part of one Security 2 handshake, measured inside of each client's own process."""
        count = str(self.options.count * 4)
        python = os.path.join(os.path.dirname(self.options.official), "python")
        script = os.path.join(os.path.dirname(os.path.abspath(__file__)), "handshake_official.py")
        ours, theirs = [], []
        for _ in range(2):
            ours += self.lines(Run([self.options.handshake, "client", count]))
            theirs += self.lines(Run([python, script, self.options.handshake, count], self.official_environment))
        self.row("Security 2 handshake, client CPU", "ms", ours, theirs, "≤ 6 ms", 1)

    def lines(self, run):
        self.check([run])
        return [float(line) for line in run.output.split()]

    def account(self):
        """What scripts call all day, and what a signed-in call costs over libcurl itself."""
        count = self.options.count
        ours, theirs = self.pairs(count, lambda: self.rainctl("whoami"), lambda: self.official("getuserinfo"))
        self.check(ours)
        self.row("whoami", "s", [r.wall for r in ours], [r.wall for r in theirs], "")
        token = self.rainctl("account", "token").output.strip()
        url = self.cloud.ready["api"] + "/v1/user2"
        # The yardstick gets its header from a file, as ours would.
        with open(f"{self.folder}/header", "w") as file:
            file.write(f"Authorization: {token}\n")
        plain = ["curl", "--silent", "--fail", "--header", f"@{self.folder}/header", url]
        ours, curl = self.pairs(count, lambda: self.rainctl("whoami"), lambda: Run(plain))
        self.check(curl, who="curl")
        self.row("whoami, against curl on the same call", "s", [r.wall for r in ours], [r.wall for r in curl], "(right: curl)")
        status, theirs = self.pairs(
            count, lambda: self.rainctl("account", "status"), lambda: self.official("profile", "current"))
        self.check(status)
        self.row("account status (offline)", "s", [r.wall for r in status], [r.wall for r in theirs], "")
        run = Run([self.options.calls, self.cloud.ready["api"], USER, PASSWORD, "1000", str(count)])
        self.check([run], who="calls")
        seconds = json.loads(run.output)
        self.row(
            "1,000 signed-in calls, against libcurl from C", "s", seconds["session"], seconds["libcurl"],
            "≤ 1.1 × libcurl (right): ratio ≥ 0.91", 3)

    def check(self, runs, status=0, who="rainctl"):
        for run in runs:
            if run.status != status:
                sys.exit(f"{who} ended with {run.status}, expected {status}:\n{run.output}")

    def sign_in_official(self):
        # With a session it would ask whether to end it, and do no more.
        with contextlib.suppress(FileNotFoundError):
            os.remove(f"{self.folder}/official/profiles/bench_config.json")
        before = len(journal(self.cloud_journal))
        run = self.official("login", "--user_name", USER)
        run.journal = journal(self.cloud_journal)[before:]
        return run

    def check_official(self, runs, succeeded):
        """Its exit code says nothing, so it is the simulators' journals that are asked."""
        for run in runs:
            if not succeeded(run):
                sys.exit(f"the official client did not do its work:\n{run.output}")

    @staticmethod
    def changed(run, change):
        """Whether the board's journal has it."""
        return any(entry.get("change") == change for entry in run.journal)

    @staticmethod
    def requests(entries):
        return sum(1 for entry in entries if entry.get("event") == "request")

    def use_cloud(self, name, api):
        """Both clients look at that cloud from here on."""
        self.rainctl("profile", "add", name, "--base-url", api)
        self.rainctl("profile", "use", name)
        self.official("profile", "add", name, "--base-url", api + "/")
        self.official("profile", "switch", name)

    def sign_in_at(self, name, api):
        self.use_cloud(name, api)
        self.check([self.rainctl("login", USER, "--password-file", f"{self.folder}/password")])
        self.official("login", "--user_name", USER)

    def run(self):
        if {"rest", "serial", "nodes", "library"} & set(self.options.rows):
            self.run_rest()
        account = {"user": USER, "password": PASSWORD, "pop": POP, "ssid": SSID, "passphrase": PASSPHRASE}
        if "bluetooth" in self.options.rows:
            Bluetooth(self, account).run()
        if "batch" in self.options.rows:
            Batch(self, account).run()
        if "ledger" in self.options.rows:
            Ledger(self, self.options.ledger).run()
        if "bridge" in self.options.rows:
            Bridge(self, self.options.bridge_boards).run()
        self.table()

    def run_rest(self):
        with Simulator(
            self.options.cloud, "--listen", "127.0.0.1:0", "--user", f"{USER}:{PASSWORD}", "--node", "bench-node-0001",
            "--journal", self.cloud_journal, "--series", self.day_of_series(),
        ) as self.cloud:
            self.use_cloud("bench", self.cloud.ready["api"])
            if "serial" in self.options.rows:
                self.check([self.rainctl("login", USER, "--password-file", f"{self.folder}/password")])
                Serial(self, {"pop": POP, "ssid": SSID, "passphrase": PASSPHRASE}).run()
            if "nodes" in self.options.rows:
                self.check([self.rainctl("login", USER, "--password-file", f"{self.folder}/password")])
                self.official("login", "--user_name", USER)
                self.nodes()
            if "library" in self.options.rows:
                self.check([self.rainctl("login", USER, "--password-file", f"{self.folder}/password")])
                self.official("login", "--user_name", USER)
                CLibrary(self, self.options.library).run()
            if "rest" not in self.options.rows:
                return
            self.cold_start()
            self.sign_in()
            self.account()
            self.provision()
            self.wrong_password()
            self.exchanges()
            self.handshake()

    def day_of_series(self):
        """A file with a record every ten minutes of the last day, and 100,000 records of another parameter, one each second."""
        now = int(time.time())
        day = [{"t": now - 86_400 + number * 600 + 300, "v": number / 8} for number in range(144)]
        many = [{"t": now - MANY_RECORDS + number, "v": number % 997} for number in range(MANY_RECORDS)]
        series = [("Sensor.Temperature", "float", day), ("Sensor.Energy", "int", many)]
        path = f"{self.folder}/series.ndjson"
        with open(path, "w") as file:
            for name, kind, records in series:
                json.dump({"node_id": "bench-node-0001", "name": name, "dt": kind, "records": records}, file)
                file.write("\n")
        return path

    def nodes(self):
        """The boards in the account, and a value of one: beside curl on the same calls, and beside the official client."""
        api = self.cloud.ready["api"]
        with Simulator(*self.board(1, 0), "--sensor", "3600"):
            self.check([self.provision_ours()])
            self.node_calls(api)
            self.many_records()
            with self.tls_front(api) as (secure, authority):
                self.rainctl("profile", "add", "bench-tls", "--base-url", secure, "--ca-file", authority)
                self.check([self.rainctl(
                    "login", USER, "--password-file", f"{self.folder}/password", "--profile", "bench-tls")])
                self.node_calls(secure, ours=["--profile", "bench-tls"], curl=["--cacert", authority])

    def many_records(self):
        """A plot of 100,000 records at a terminal, and the other forms. The records come in 500 pages."""
        command = [self.options.rainctl, "node", "history", "bench-node-0001", "Sensor.Energy", "--since", "30h"]
        forms = {"a plot": [], "CSV": ["--csv"], "SVG": ["--svg", f"{self.folder}/many.svg"]}
        for name, options in forms.items():
            run = AtTerminal if name == "a plot" else Run
            runs = [run([*command, *options], self.ours_environment) for _ in range(3)]
            self.check(runs)
            self.row(f"node history of {MANY_RECORDS:,} records as {name}", "s", [run.wall for run in runs], None, "≤ 1 s", 2)
            self.row("  memory", "MB", [run.peak for run in runs], None, "≤ 60 MB", 1)

    def node_calls(self, api, ours=(), curl=()):
        """Over TLS, as every cloud has it, where there are further arguments; the official client has none for a certificate of one's own."""
        header = self.rainctl("account", "header", *ours)
        self.check([header])
        path = f"{self.folder}/header"
        with open(path, "w", opener=lambda name, flags: os.open(name, flags, 0o600)) as file:
            file.write(header.output)
        details = f"{api}/v1/user/nodes?node_details=true"
        body = '{"Light":{"Power":true}}'
        plain = ["-sSf", *curl, "-H", f"@{path}"]
        calls = {
            "node list": (
                lambda: self.rainctl("node", "list", *ours), lambda: Run(["curl", *plain, details]),
                lambda: self.official("getnodes")),
            "node params set": (
                lambda: self.rainctl("node", "params", "set", "bench-node-0001", "Light.Power=on", *ours),
                lambda: Run([
                    "curl", *plain, f"{details}&node_id=bench-node-0001", "--next", *plain, "-X", "PUT",
                    "-H", "Content-Type: application/json", "-d", body,
                    f"{api}/v1/user/nodes/params?node_id=bench-node-0001"]),
                lambda: self.official("setparams", "bench-node-0001", "--data", body)),
        }
        ms = lambda runs: [run.wall * 1000 for run in runs]
        # The official client has no history.
        now = int(time.time())
        node = "node_id=bench-node-0001"
        history = (
            f"{api}/v1/user/nodes/tsdata?{node}&param_name=Sensor.Temperature&type=float&aggregate=raw&num_records=200"
            f"&start_time={now - 86_400}&end_time={now}")
        ours_runs, curl_runs = self.pairs(
            self.options.count * 4,
            lambda: self.rainctl("node", "history", "bench-node-0001", "Sensor.Temperature", "--csv", *ours),
            lambda: Run(["curl", *plain, f"{details}&{node}", history]))
        self.check(ours_runs)
        self.check(curl_runs, who="curl")
        self.row(
            f"node history of a day{' over TLS' if curl else ''}, against curl on the same calls", "ms", ms(ours_runs),
            ms(curl_runs), "≤ 1.5 × curl (right)", 1)
        for name, (rainctl, yardstick, official) in calls.items():
            ours_runs, curl_runs = self.pairs(self.options.count * 4, rainctl, yardstick)
            self.check(ours_runs)
            self.check(curl_runs, who="curl")
            over = " over TLS" if curl else ""
            self.row(
                f"{name}{over}, against curl on the same calls", "ms", ms(ours_runs), ms(curl_runs), "≤ 1.5 × curl (right)", 1)
            if not curl:
                ours_runs, their_runs = self.pairs(self.options.count, rainctl, official)
                self.check(ours_runs)
                self.row(name, "ms", ms(ours_runs), ms(their_runs), "", 1)
        ours_times, curl_times = self.warm_list(ours, ["curl", *plain, "-w", "%{time_total}\\n", details])
        self.row(
            f"node list{' over TLS' if curl else ''} by serve, against libcurl, both warm", "ms", ours_times, curl_times,
            "≤ libcurl + 1 ms", 3, paired=False)

    def warm_list(self, ours, curl, count=200):
        """The times of requests to one `rainctl serve`, and of the same request by one curl, which keeps its connection. In milliseconds."""
        with subprocess.Popen(
                [self.options.rainctl, "serve", *ours], env=self.ours_environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as server:
            times = []
            for number in range(count):
                request = json.dumps({"jsonrpc": "2.0", "id": number, "method": "node.list"}).encode() + b"\n"
                began = time.perf_counter()
                server.stdin.write(request)
                server.stdin.flush()
                answer = server.stdout.readline()
                times.append((time.perf_counter() - began) * 1000)
                if b'"result"' not in answer:
                    sys.exit(f"rainctl serve: {answer.decode(errors='replace')}")
            server.stdin.close()
        # The address once for each request: curl uses the connection of the one before.
        url = curl[-1]
        outputs = [word for _ in range(count) for word in ("-o", "/dev/null")]
        run = Run([*curl[:-1], *outputs, *[url] * count])
        self.check([run], who="curl")
        warm = count // 10
        return times[warm:], [float(line) * 1000 for line in run.output.split()][warm:]

    @contextlib.contextmanager
    def tls_front(self, api):
        """The same service over TLS, and the file of the certificate to trust."""
        certificate, key = f"{self.folder}/tls.pem", f"{self.folder}/tls.key"
        made = Run([
            "openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "1", "-subj",
            "/CN=bench", "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", key, "-out", certificate])
        self.check([made], who="openssl")
        script = os.path.join(os.path.dirname(os.path.abspath(__file__)), "tls_front.py")
        with Simulator(sys.executable, script, api.rsplit(":", 1)[1], certificate, key) as front:
            yield f"https://127.0.0.1:{front.ready['port']}", certificate

    def table(self, theirs="official 1.14.1"):
        head = ("figure", "unit", "rainctl: median (min–max)", theirs, "ratio", "promise")
        widths = [max(len(str(row[column])) for row in [head, *self.rows]) for column in range(len(head))]
        line = lambda row: "| " + " | ".join(str(cell).ljust(width) for cell, width in zip(row, widths)) + " |"
        print(line(head))
        print("|" + "|".join("-" * (width + 2) for width in widths) + "|")
        for row in self.rows:
            print(line(row))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    for name in ("rainctl", "official", "cloud", "firmware", "handshake", "calls", "exchanges", "peak", "fleet", "library", "ledger"):
        parser.add_argument(f"--{name}", required=True)
    parser.add_argument("--count", type=int, default=5, help="pairs for each short figure")
    parser.add_argument(
        "--rows", nargs="+", choices=ROWS, default=ROWS, help="which part of the table")
    parser.add_argument("--before", help="an earlier build of rainctl: compare it with this one, and measure nothing else")
    parser.add_argument("--fleet-boards", type=int, default=1000, help="boards of ours that meet a faulty radio")
    parser.add_argument(
        "--official-boards", type=int, default=40, help="boards of the official client's that meet it; 13 s each")
    parser.add_argument("--batch-boards", type=int, default=1000, help="boards of a batch that are provisioned all at once")
    parser.add_argument("--official-loop", type=int, default=10, help="boards that the official client provisions in a loop")
    parser.add_argument("--official-at-once", type=int, default=4, help="of the official client's processes")
    parser.add_argument("--bridge-boards", type=int, default=500, help="boards that the bridge shows")
    options = parser.parse_args()
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    folder = tempfile.mkdtemp(prefix="rainkit-bench-")
    try:
        bench = Bench(options, folder)
        if options.before:
            Before(bench, options.before, USER, PASSWORD).run()
        else:
            bench.run()
    finally:
        shutil.rmtree(folder, ignore_errors=True)


main()
