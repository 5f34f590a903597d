// SPDX-License-Identifier: Apache-2.0
import Glibc
import RainJSON
import TestSupport
import Testing

/// What the disk can do to a session: nothing becomes readable by others, nothing is lost, and the error says what is wrong.
@Suite("rainctl and a disk that does not do its part")
struct DiskFaultTests {
    /// Runs a script as the maker, with `rainctl` as a command. In a mount namespace of its own it may mount what it likes.
    private func script(_ bench: StoreBench, _ text: String, ownMounts: Bool = false) async throws -> FinishedProcess {
        let rainctl = try Executables.path("rainctl")
        let all =
            "rainctl() { \(rainctl) \"$@\"; }\nlogin() { rainctl login \(SimulatedCloud.user) --password-file "
            + "\(bench.folder.file("password")) \"$@\"; }\nSTATE=\(bench.folder.file("state"))\n" + text
        let (executable, arguments) = ownMounts ? ("unshare", namespacePrivileges + ["--mount", "sh"]) : ("sh", [])
        return try await run(
            executable, arguments + ["-c", all], environment: bench.maker.environment)
    }

    @Test("with umask 000 and with umask 777 every file is private, and works", arguments: ["000", "777"])
    func umask(mask: String) async throws {
        try await StoreBench.with { bench in
            let outcome = try await script(
                bench, "umask \(mask); login && rainctl account refresh && rainctl account use \(SimulatedCloud.user)")
            #expect(outcome.status == .exited(0), "\(outcome.standardError)")
            #expect(try bench.wideOpen() == [])
            #expect(try await bench.maker.rainctl("whoami").status == 0)
        }
    }

    @Test("a symbolic link in the way is refused before anything is sent, and what it leads to stays as it is")
    func symbolicLink() async throws {
        try await StoreBench.with { bench in
            #expect(try await bench.logIn().status == 0)
            let file = bench.folder.file(Maker.sessionFile)
            rename(file, bench.folder.file("target"))
            symlink(bench.folder.file("target"), file)
            let before = try bench.folder.read("target")
            let signIns = try bench.signIns()
            let login = try await bench.logIn()
            #expect(login.status == 73)
            #expect(login.failure?["message"]?.string?.contains("symbolic link") == true)
            let refresh = try await bench.maker.rainctl("account", "refresh", "--json")
            #expect(refresh.status == 65)
            #expect(refresh.failure?["message"]?.string?.contains("symbolic link") == true)
            #expect(try bench.signIns() == signIns)
            #expect(try bench.folder.read("target") == before)
        }
    }

    @Test("a folder that others may write to is refused with what to do")
    func openFolder() async throws {
        try await StoreBench.with { bench in
            #expect(try await bench.logIn().status == 0)
            chmod(bench.folder.file("state/rainkit/sessions"), 0o777)
            let outcome = try await bench.maker.rainctl("whoami", "--json")
            #expect(outcome.status == 73)
            #expect(outcome.failure?["message"]?.string?.contains("chmod 700") == true)
        }
    }

    @Test("on a full disk the stored session stays whole, and is good again when there is room")
    func fullDisk() async throws {
        // A cloud that forgets a refresh token when it gives the next one.
        try await StoreBench.with(cloud: ["--rotate-refresh"]) { bench in
            let outcome = try await script(
                bench,
                """
                mkdir -p $STATE && mount -t tmpfs -o size=128k,mode=700 none $STATE || exit 90
                login >/dev/null || exit 91
                cp \(bench.folder.file(Maker.sessionFile)) \(bench.folder.file("before"))
                dd if=/dev/zero of=$STATE/fill bs=4k 2>/dev/null
                rainctl account refresh --json; echo "refresh $?"
                login --json; echo "login $?"
                cmp \(bench.folder.file(Maker.sessionFile)) \(bench.folder.file("before")) && echo same
                find $STATE/rainkit -name '*.new' | grep . && exit 92
                rainctl whoami >/dev/null; echo "whoami $?"
                rm $STATE/fill
                rainctl account refresh >/dev/null; echo "again $?"
                """, ownMounts: true)
            let lines = outcome.standardOutput.split(separator: "\n").map(String.init)
            #expect(outcome.status == .exited(0), "\(outcome.standardError)")
            #expect(lines.contains("refresh 73") && lines.contains("login 73"))
            #expect(lines.contains("same"))
            #expect(lines.contains("whoami 0") && lines.contains("again 0"))
            #expect(outcome.standardOutput.contains("No space left on device"))
            // Nothing was asked of the cloud that could not have been kept.
            #expect(try bench.signIns() == 2, "a sign-in, and a renewal at the end")
        }
    }

    @Test("in a read-only home a sign-in is refused before anything is sent, and a session that is there can be used")
    func readOnly() async throws {
        try await StoreBench.with { bench in
            let outcome = try await script(
                bench,
                """
                mkdir -p $STATE && mount --bind $STATE $STATE && mount -o remount,ro,bind $STATE || exit 90
                login --json; echo "login $?"
                mount -o remount,rw,bind $STATE
                login >/dev/null || exit 91
                mount -o remount,ro,bind $STATE
                rainctl whoami >/dev/null; echo "whoami $?"
                rainctl account refresh --json; echo "refresh $?"
                """, ownMounts: true)
            let lines = outcome.standardOutput.split(separator: "\n").map(String.init)
            #expect(outcome.status == .exited(0), "\(outcome.standardError)")
            #expect(lines.contains("login 73"))
            #expect(lines.contains("whoami 0"))
            #expect(lines.contains("refresh 73"))
            #expect(outcome.standardOutput.contains("Read-only file system"))
            #expect(try bench.signIns() == 1)
        }
    }
}
