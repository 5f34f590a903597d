// SPDX-License-Identifier: Apache-2.0
import Glibc
import TestSupport
import Testing

@Suite struct ProcessTests {
    @Test("a program's output, errors and exit status are all there")
    func runToTheEnd() async throws {
        let finished = try await run("sh", ["-c", "cat; echo oops >&2; exit 7"], input: .text("hello\nworld"))
        #expect(finished.status == .exited(7))
        #expect(finished.standardOutput == "hello\nworld")
        #expect(finished.standardError == "oops\n")
    }

    @Test("lines are handed out one by one, the last one without its line break too")
    func lines() async throws {
        try await withChildProcess("sh", ["-c", "echo ready; read answer; printf \"got $answer\""], input: .open) {
            child in
            let ready = try await child.readyLine()
            child.write("this\n")
            let second = try await child.line()
            let third = try await child.line()
            let status = try await child.wait()
            #expect(ready == "ready" && second == "got this" && third == nil && status == .exited(0))
        }
    }

    @Test("a wait ends at its deadline")
    func deadline() async throws {
        try await withChildProcess("sleep", ["60"]) { child in
            await #expect(throws: ProcessError.self) { try await child.line(within: .milliseconds(20)) }
            await #expect(throws: ProcessError.self) { try await child.wait(within: .milliseconds(20)) }
            let status = try await child.terminate()
            #expect(status == .signalled(Int(SIGTERM)))
        }
    }

    @Test("what a program started dies with it when the test ends")
    func noOrphans() async throws {
        let (own, grandchild) = try await withChildProcess("sh", ["-c", "sleep 60 & echo $!; wait"]) { child in
            let line = try await child.readyLine()
            return (child.pid, try #require(pid_t(line)))
        }
        for pid in [own, grandchild] {
            var alive = true
            let end = ContinuousClock.now + .waitLimit
            while alive, ContinuousClock.now < end {
                alive = isRunning(pid)
                if alive { try await Task.sleep(for: .milliseconds(10)) }
            }
            #expect(!alive)
        }
    }

    @Test("a child asks the kernel to die with the test run, from a thread that lives on")
    func deathSignal() async throws {
        // The parent dies by SIGKILL and can do nothing; its child must still end.
        let script = "import ctypes; n = ctypes.c_int(); ctypes.CDLL(None).prctl(2, ctypes.byref(n)); print(n.value)"
        let finished = try await run("python3", ["-c", script])
        #expect(finished.standardOutput == "9\n")
    }

    @Test("a program that does not exist is an exit status, not a hang")
    func missingProgram() async throws {
        let finished = try await run("/nonexistent/program")
        #expect(finished.status == .exited(127))
    }

    @Test("the environment and the folder are the ones given")
    func surroundings() async throws {
        try await withTemporaryFolder { folder in
            let finished = try await run(
                "sh", ["-c", "echo $PLACE; pwd"], environment: ["PLACE": "here"], directory: folder.path)
            #expect(finished.standardOutput == "here\n\(folder.path)\n")
        }
    }

    @Test("many programs at once do not hold each other's pipes open", arguments: 0..<16)
    func together(number: Int) async throws {
        let finished = try await run("cat", [], input: .text(String(repeating: "\(number) ", count: 50_000)))
        #expect(finished.standardOutput.count == 50_000 * "\(number) ".count)
    }

    @Test("a temporary folder is gone after its use, with all that is in it")
    func temporaryFolder() async throws {
        let path = try await withTemporaryFolder { folder in
            try folder.write("text", to: "file")
            #expect(mkdir(folder.file("inner"), 0o700) == 0)
            let text = try folder.read("file")
            #expect(text == "text")
            return folder.path
        }
        #expect(access(path, F_OK) == -1)
    }

    @Test("the products are found beside the tests, the checkout by its sources")
    func places() {
        #expect(access(Executables.folder, X_OK) == 0)
        #expect(access(Repository.path("Package.swift"), R_OK) == 0)
    }

    /// Not gone and not a zombie.
    private func isRunning(_ pid: pid_t) -> Bool {
        guard let status = try? readFile("/proc/\(pid)/stat") else { return false }
        return !status.contains(") Z ")
    }
}
