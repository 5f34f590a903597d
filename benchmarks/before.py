# SPDX-License-Identifier: Apache-2.0
"""Compares an earlier build of rainctl with this one. The two take turns on the same simulators, so that a machine that slows down slows
both. A ratio above 1 means that this build needs less."""

import os
import shutil

from processes import Run, Simulator, peak_memory

PROMISE = "≥ 0.95"


class Before:
    def __init__(self, bench, rainctl, user, password):
        self.bench, self.user, self.password = bench, user, password
        # Copies, because the kernel maps a file that a linker wrote in smaller pieces than one that was copied: its start takes 10 % longer.
        self.programs = {
            name: shutil.copy(program, f"{bench.folder}/rainctl-{name}")
            for name, program in (("now", bench.options.rainctl), ("before", rainctl))
        }
        self.environments = {}
        for name in self.programs:
            home = f"{bench.folder}/{name}"
            os.makedirs(home)
            self.environments[name] = {
                "PATH": os.environ["PATH"], "HOME": home, "XDG_STATE_HOME": f"{home}/state",
                "XDG_CONFIG_HOME": f"{home}/config",
            }

    def rainctl(self, name, *arguments):
        return Run([self.programs[name], *arguments], self.environments[name])

    def run(self):
        bench = self.bench
        with Simulator(
            bench.options.cloud, "--listen", "127.0.0.1:0", "--user", f"{self.user}:{self.password}",
            "--node", "bench-node-0001", "--journal", bench.cloud_journal,
        ) as bench.cloud:
            for name in self.programs:
                for arguments in (
                    ("profile", "add", "bench", "--base-url", bench.cloud.ready["api"]), ("profile", "use", "bench"),
                    self.login,
                ):
                    bench.check([self.rainctl(name, *arguments)])
            count = bench.options.count
            self.figures("cold start, --help", count * 10, lambda name: self.rainctl(name, "--help"))
            self.memory("cold start, peak memory", count * 4, ["--help"])
            self.figures("sign-in", count * 2, lambda name: self.rainctl(name, *self.login))
            self.figures("whoami", count * 4, lambda name: self.rainctl(name, "whoami"))
            self.figures("account status (offline)", count * 4, lambda name: self.rainctl(name, "account", "status"))
            self.provisioning(count)
            with self.board(1, 0):
                bench.check([self.provision("now")])
                self.figures("node list", count * 4, lambda name: self.rainctl(name, "node", "list"))
                self.memory("node list, peak memory", count * 2, ["node", "list"])
                self.figures(
                    "node params set", count * 4,
                    lambda name: self.rainctl(name, "node", "params", "set", "bench-node-0001", "Light.Power=on"))
        bench.table("before")

    @property
    def login(self):
        return ("login", self.user, "--password-file", f"{self.bench.folder}/password")

    def board(self, security, delay):
        return Simulator(*self.bench.board(security, delay))

    def provision(self, name, passphrase="wifi"):
        return self.rainctl(name, *self.bench.provisioning(passphrase))

    def provisioning(self, count):
        for security in (1, 2):
            self.figures(
                f"provision, Security {security}, D = 0 s", count * 2,
                lambda name: self.bench.with_board(security, 0, lambda: self.provision(name)))
        self.figures(
            "wrong Wi-Fi password, D = 0 s", count,
            lambda name: self.bench.with_board(1, 0, lambda: self.provision(name, "wrong")), status=11)

    def figures(self, what, count, run, status=0):
        """The wall time and the time of the processors."""
        now, before = self.bench.pairs(count, lambda: run("now"), lambda: run("before"))
        self.bench.check([*now, *before], status)
        for measure, of in (("", lambda run: run.wall * 1000), (", CPU", lambda run: run.cpu * 1000)):
            self.bench.row(f"{what}{measure}", "ms", list(map(of, now)), list(map(of, before)), PROMISE, 1)

    def memory(self, what, count, arguments):
        measure = lambda name: peak_memory(
            self.bench.options.peak, [self.programs[name], *arguments], self.environments[name])
        now, before = self.bench.pairs(count, lambda: measure("now"), lambda: measure("before"))
        self.bench.row(what, "MB", now, before, PROMISE, 1)
