# SPDX-License-Identifier: Apache-2.0
"""The rows of the ledger: how many boards pass through it if the boards themselves take no time. Several stations share a PostgreSQL server of
the benchmark's own, also while a reader holds a snapshot; one station has a SQLite file."""

import glob
import os
import pwd
import shutil
import subprocess
import sys
import time

STATIONS, BOARDS, SQLITE_BOARDS = 4, 10_000, 2_000


class PostgreSQL:
    """A server on a Unix socket in a folder of its own, until the end of a with block. It refuses to run as root."""

    def __init__(self, folder):
        versions = sorted(glob.glob("/usr/lib/postgresql/*/bin"), key=lambda path: int(path.split("/")[-2]))
        if not versions:
            sys.exit("postgresql is not installed")
        self.binaries, self.folder = versions[-1], f"{folder}/postgresql"
        self.owner, self.user = None, []
        if os.geteuid() == 0:
            with open("/proc/self/uid_map") as users:
                is_alone = users.read().split()[2] == "1"
            if is_alone:
                # This namespace has only one user, who appears as root (scripts/bench).
                self.user = ["unshare", "--user", "--map-user=1000", "--map-group=1000"]
            else:
                self.owner = pwd.getpwnam("postgres")
                self.user = ["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups"]

    def __enter__(self):
        os.makedirs(self.folder)
        if self.owner:
            os.chmod(os.path.dirname(self.folder), 0o755)
            os.chown(self.folder, self.owner.pw_uid, self.owner.pw_gid)
        subprocess.run(
            [*self.user, f"{self.binaries}/initdb", "-D", f"{self.folder}/data", "--encoding=UTF8", "--locale=C",
             "--auth=trust", "--username=bench"], check=True, stdout=subprocess.DEVNULL)
        self.process = subprocess.Popen(
            [*self.user, f"{self.binaries}/postgres", "-D", f"{self.folder}/data", "-c", "listen_addresses=", "-c",
             f"unix_socket_directories={self.folder}"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.url = f"postgresql://bench@/postgres?host={self.folder}"
        end = time.monotonic() + 60
        while subprocess.run(["pg_isready", "-q", "-h", self.folder]).returncode:
            if time.monotonic() > end or self.process.poll() is not None:
                sys.exit("postgresql did not start")
            time.sleep(0.05)
        return self

    def sql(self, text):
        return subprocess.run(
            ["psql", "-XqAt", "-v", "ON_ERROR_STOP=1", self.url, "-c", text], check=True, stdout=subprocess.PIPE, text=True
        ).stdout.strip()

    def snapshot(self):
        """A reader that holds what it sees until it is ended."""
        reader = subprocess.Popen(
            ["psql", "-XqAt", self.url], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        reader.stdin.write("begin isolation level repeatable read; select count(*) from boards;\n")
        reader.stdin.flush()
        reader.stdout.readline()
        return reader

    def __exit__(self, *_):
        self.process.send_signal(2)
        self.process.wait(60)
        shutil.rmtree(self.folder, ignore_errors=True)


class Ledger:
    def __init__(self, bench, program):
        self.bench, self.program = bench, program

    def run(self):
        with PostgreSQL(self.bench.folder) as server:
            for held in (False, True):
                speeds = [self.stations(server, held) for _ in range(max(1, self.bench.options.count // 2))]
                name = f"ledger, {STATIONS} stations on PostgreSQL, {BOARDS} boards"
                self.bench.row(name + (", a snapshot held open" if held else ""), "boards/s", speeds, None, "≥ 200", 0)
        speeds = [self.file(number) for number in range(max(1, self.bench.options.count // 2))]
        self.bench.row(f"ledger, 10 at once on SQLite, {SQLITE_BOARDS} boards", "boards/s", speeds, None, "≥ 100", 0)

    def stations(self, server, held):
        server.sql("drop schema public cascade; create schema public")
        subprocess.run([self.program, "create", server.url, str(BOARDS)], check=True)
        reader = server.snapshot() if held else None
        began = time.monotonic()
        done = self.work(server.url, BOARDS, STATIONS, 50)
        taken = time.monotonic() - began
        if reader:
            reader.communicate("rollback;\n")
        found = server.sql("select count(*) filter (where state = 'done'), count(distinct node_id), max(attempt) from boards")
        ended = server.sql("select count(*), count(distinct board) from steps where event = 'done'")
        if (done, found, ended) != (BOARDS, f"{BOARDS}|{BOARDS}|1", f"{BOARDS}|{BOARDS}"):
            sys.exit(f"the ledger has {found} and {ended}, the stations have done {done}")
        return BOARDS / taken

    def file(self, number):
        path = f"{self.bench.folder}/ledger-{number}.sqlite"
        subprocess.run([self.program, "create", path, str(SQLITE_BOARDS)], check=True)
        began = time.monotonic()
        done = self.work(path, SQLITE_BOARDS, 1, 10)
        taken = time.monotonic() - began
        if done != SQLITE_BOARDS:
            sys.exit(f"the station has done {done} of {SQLITE_BOARDS} boards")
        return SQLITE_BOARDS / taken

    def work(self, place, boards, stations, at_once):
        """Returns how many boards all stations have done."""
        running = [
            subprocess.Popen(
                [self.program, "work", place, str(boards), f"bench-{number}", str(at_once)], stdout=subprocess.PIPE, text=True)
            for number in range(stations)]
        outputs = [station.communicate()[0] for station in running]
        if any(station.returncode for station in running):
            sys.exit("a station of the ledger failed")
        return sum(int(output) for output in outputs)
