// SPDX-License-Identifier: Apache-2.0
import Glibc

/// A real `gnome-keyring-daemon` on a test's own bus, with keyrings of its own.
public final class Keyring: Sendable {
    private let process: ChildProcess

    public static let password = "planted-keyring-password"

    /// Starts it and returns when it answers. Unlocked with ``password``, which makes the login keyring the first time; otherwise it
    /// has whatever keyrings an earlier one left, locked.
    public init(on bus: SessionBusDaemon, unlocked: Bool) async throws {
        try await TestSupport.run("mkdir", ["-p", "-m", "700", bus.environment["XDG_RUNTIME_DIR"]!])
        process = try await ChildProcess.start(
            "gnome-keyring-daemon", ["--foreground", "--components=secrets"] + (unlocked ? ["--unlock"] : []),
            environment: bus.environment, input: unlocked ? .text(Self.password) : .empty)
        try await Self.waitForOwner(of: "org.freedesktop.secrets", on: bus, process)
    }

    /// Waits until somebody owns a name on the bus.
    static func waitForOwner(of name: String, on bus: SessionBusDaemon, _ owner: ChildProcess) async throws {
        let end = ContinuousClock.now + .waitLimit
        while true {
            let asked = try await bus.run(
                "dbus-send",
                [
                    "--session", "--print-reply", "--dest=org.freedesktop.DBus", "/org/freedesktop/DBus",
                    "org.freedesktop.DBus.NameHasOwner", "string:\(name)",
                ])
            if asked.standardOutput.contains("boolean true") { return }
            guard ContinuousClock.now < end else {
                throw ProcessError("nobody owns \(name): \(asked.standardError) \(owner.standardError)")
            }
            try await Task.sleep(for: .milliseconds(20))
        }
    }

    public func end() async throws { try await process.terminate() }

    /// Lets it hang, and go on again.
    public func stop() { process.signal(SIGSTOP) }
    public func resume() { process.signal(SIGCONT) }
}

/// Owns the Secret Service's name on a bus and never answers anyone.
public final class SilentSecretService: Sendable {
    private let process: ChildProcess

    public init(on bus: SessionBusDaemon) async throws {
        // The distribution's Python, for which Debian has D-Bus.
        process = try await ChildProcess.start(
            "/usr/bin/python3",
            [
                "-c",
                """
                import dbus, sys
                bus = dbus.SessionBus()
                bus.request_name('org.freedesktop.secrets')
                sys.stdin.read()
                """,
            ], environment: bus.environment, input: .open)
        try await Keyring.waitForOwner(of: "org.freedesktop.secrets", on: bus, process)
    }

    public func end() async throws { try await process.terminate(SIGKILL) }
}
