# SPDX-License-Identifier: Apache-2.0
"""Provisioning through librainkit, from C and from Python, beside rainctl and beside the official client in a process of its own."""

import os
import subprocess
import sys

from processes import Run

PYTHON = """
import asyncio, sys
import rainkit

async def main(state, base_url, board, pop, ssid, passphrase):
    async with rainkit.Client(state, store=rainkit.Store.FILE, deployment="bench", base_url=base_url) as client:
        await client.provision(board, proof=pop, ssid=ssid, passphrase=passphrase)

asyncio.run(main(*sys.argv[1:]))
"""


class CLibrary:
    def __init__(self, bench, library):
        self.bench = bench
        here = os.path.dirname(os.path.abspath(__file__))
        self.library = os.path.abspath(library)
        folder = os.path.dirname(self.library)
        self.program = f"{bench.folder}/provision"
        subprocess.run(
            ["cc", "-std=c11", "-D_GNU_SOURCE", "-O2", "-I", folder, f"{here}/c/provision.c", "-o", self.program, self.library,
             f"-Wl,-rpath,{folder}"], check=True)
        self.environment = {
            **bench.ours_environment, "PYTHONPATH": f"{here}/../packaging/python", "RAINKIT_LIBRARY": self.library,
            "PYTHONDONTWRITEBYTECODE": "1",
        }

    def arguments(self):
        bench = self.bench
        return (
            f"{bench.folder}/state/rainkit", bench.cloud.ready["api"], "softap:192.168.4.1:80", bench.pop, bench.ssid,
            bench.passphrase)

    def provision_c(self):
        return Run([self.program, *self.arguments()], self.environment)

    def provision_python(self):
        return Run([sys.executable, "-c", PYTHON, *self.arguments()], self.environment)

    def run(self):
        bench = self.bench
        for name, client in (("C", self.provision_c), ("Python", self.provision_python)):
            ours, theirs = bench.pairs(
                bench.options.count, lambda: bench.with_board(1, 0, client),
                lambda: bench.with_board(1, 0, bench.provision_ours))
            bench.check([*ours, *theirs], who=f"{name} or rainctl")
            bench.row(
                f"provision through {name}, against rainctl", "s", [r.wall for r in ours], [r.wall for r in theirs],
                "(right: rainctl)")
        ours, theirs = bench.pairs(
            max(2, bench.options.count // 2), lambda: bench.with_board(1, 0, self.provision_python),
            lambda: bench.with_board(1, 0, bench.provision_official))
        bench.check(ours, who="Python")
        bench.check_official(theirs, lambda run: bench.changed(run, "joined"))
        bench.row("provision through Python", "s", [r.wall for r in ours], [r.wall for r in theirs], "≤ 1/12 of theirs")
        times = [
            float(subprocess.run(
                [self.program, *self.arguments(), "100000"], env=self.environment, capture_output=True, text=True, check=True
            ).stdout) for _ in range(bench.options.count)
        ]
        bench.row("an access token from a warm client", "µs", times, None, "≤ 5 µs", 2)
