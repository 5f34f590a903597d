// SPDX-License-Identifier: Apache-2.0

/// A D-Bus session bus of a test's own: it starts no services and ends with the test.
public final class SessionBusDaemon: Sendable {
    private let process: ChildProcess
    public let address: String
    /// Where programs on it keep their files.
    public let folder: TemporaryFolder

    public init(in folder: TemporaryFolder) async throws {
        self.folder = folder
        // Sockets have short paths; the folder has one.
        try folder.write(
            """
            <!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
             "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
            <busconfig>
              <type>session</type>
              <listen>unix:path=\(folder.file("bus"))</listen>
              <auth>EXTERNAL</auth>
              <policy context="default">
                <allow send_destination="*" eavesdrop="true"/>
                <allow eavesdrop="true"/>
                <allow own="*"/>
              </policy>
            </busconfig>
            """, to: "bus.conf")
        process = try await ChildProcess.start(
            "dbus-daemon", ["--nofork", "--print-address=1", "--config-file=\(folder.file("bus.conf"))"])
        address = try await process.readyLine()
    }

    /// What a program needs to be on this bus, and away from everything else of the person who runs the tests.
    public var environment: [String: String] {
        [
            "DBUS_SESSION_BUS_ADDRESS": address, "XDG_RUNTIME_DIR": folder.file("runtime"), "HOME": folder.path,
            "XDG_DATA_HOME": folder.file("data"), "XDG_CONFIG_HOME": folder.file("config"),
            "XDG_CACHE_HOME": folder.file("cache"), "XDG_STATE_HOME": folder.file("state"), "DISPLAY": "",
            "WAYLAND_DISPLAY": "", "SSH_AUTH_SOCK": "",
        ]
    }

    public func end() async throws { try await process.terminate() }

    /// Runs a program on this bus to its end.
    public func run(
        _ executable: String, _ arguments: [String], input: ChildProcess.Input = .empty
    ) async throws -> FinishedProcess {
        try await TestSupport.run(executable, arguments, environment: environment, input: input)
    }
}
