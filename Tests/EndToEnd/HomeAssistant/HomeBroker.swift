// SPDX-License-Identifier: Apache-2.0
import Glibc
import RainJSON
import TestSupport
import Testing

/// Debian's mosquitto, on a port that stays the same when it is restarted.
final class HomeBroker {
    let port: Int
    private let configuration: String
    private let namespace: NetworkNamespace?
    private(set) var process: ChildProcess

    /// - Parameters:
    ///   - lines: of its configuration.
    ///   - namespace: where it and its clients run; nil for the machine's own network.
    static func start(
        _ lines: [String] = ["allow_anonymous true"], in folder: TemporaryFolder, namespace: NetworkNamespace? = nil
    ) async throws -> HomeBroker {
        let port = try LoopbackServer.assignablePort()
        let all = [
            "listener \(port) 127.0.0.1", "log_dest stderr", "log_type all", "connection_messages true",
            "max_queued_messages 0", "user root",
        ]
        try folder.write((all + lines).joined(separator: "\n") + "\n", to: "broker-\(port).conf")
        let path = folder.file("broker-\(port).conf")
        return HomeBroker(
            port: port, configuration: path, namespace, process: try await run(path, namespace))
    }

    private init(port: Int, configuration: String, _ namespace: NetworkNamespace?, process: ChildProcess) {
        (self.port, self.configuration, self.namespace, self.process) = (port, configuration, namespace, process)
    }

    private static func run(_ configuration: String, _ namespace: NetworkNamespace?) async throws -> ChildProcess {
        let arguments = ["-c", configuration]
        let command = namespace?.command("/usr/sbin/mosquitto", arguments) ?? ("/usr/sbin/mosquitto", arguments)
        let process = try await ChildProcess.start(command.0, command.1)
        try await process.errorOutput(containing: " running")
        return process
    }

    var address: String { "mqtt://127.0.0.1:\(port)" }

    func kill() { process.kill() }

    /// Ends it without a warning, and starts it again. It has forgotten everything.
    func restart() async throws {
        process.signal(SIGKILL)
        _ = try await process.wait()
        process = try await Self.run(configuration, namespace)
    }

    private func client(_ executable: String, _ arguments: [String]) async throws -> FinishedProcess {
        let command = namespace?.command(executable, arguments) ?? (executable, arguments)
        return try await TestSupport.run(command.0, command.1)
    }

    func publish(_ topic: String, _ text: String, isRetained: Bool = false) async throws {
        let done = try await client(
            "mosquitto_pub",
            ["-h", "127.0.0.1", "-p", "\(port)", "-q", "2", "-t", topic, "-m", text] + (isRetained ? ["-r"] : []))
        #expect(done.status == .exited(0), "\(done.standardError)")
    }

    /// A subscriber that prints each message as `topic payload`, and the retained ones first.
    func subscriber(_ filter: String = "#") async throws -> ChildProcess {
        let child = try await ChildProcess.start(
            "stdbuf",
            ["-oL", "mosquitto_sub", "-d", "-v", "-h", "127.0.0.1", "-p", "\(port)", "-q", "2", "-t", filter])
        try await child.output(containing: "Subscribed (mid")
        return child
    }

    /// The retained messages, by topic.
    func retained(_ filter: String = "#") async throws -> [String: String] {
        let done = try await client(
            "mosquitto_sub",
            [
                "-h", "127.0.0.1", "-p", "\(port)", "-v", "-t", filter, "--retained-only", "-W", "1",
            ])
        var messages: [String: String] = [:]
        for line in done.standardOutput.split(separator: "\n") {
            let parts = line.split(separator: " ", maxSplits: 1).map(String.init)
            messages[parts[0]] = parts.count > 1 ? parts[1] : ""
        }
        return messages
    }

    /// Waits until a retained message has this text.
    func state(_ topic: String, contains text: String) async throws {
        let end = ContinuousClock.now + .waitLimit
        var seen: String?
        while ContinuousClock.now < end {
            let done = try await client(
                "mosquitto_sub",
                ["-h", "127.0.0.1", "-p", "\(port)", "-t", topic, "-C", "1", "-W", "2"])
            seen = done.standardOutput
            if done.standardOutput.contains(text) { return }
            try await Task.sleep(for: .milliseconds(50))
        }
        Issue.record("\(topic) is \(seen ?? "empty"), and not \(text)")
    }
}
