// SPDX-License-Identifier: Apache-2.0

/// A separate network, with a loopback and nothing else, so that a test can own addresses like 192.168.4.1.
///
/// It lives as long as the process that holds it, which dies with the test.
public final class NetworkNamespace: Sendable {
    private let holder: ChildProcess

    /// Makes one whose loopback also answers to `addresses`. Needs root, or the kernel's user namespaces.
    public init(addresses: [String]) async throws {
        // `cat` waits for the end of an input that stays open: it holds the namespace until it is killed.
        holder = try await ChildProcess.start("unshare", namespacePrivileges + ["--net", "cat"], input: .open)
        // The namespace is there once the holder echoes.
        holder.write("ready\n")
        _ = try await holder.readyLine()
        try await ip(["link", "set", "lo", "up"])
        for address in addresses { try await add(address) }
    }

    /// From now on its loopback answers to that address, too.
    public func add(_ address: String) async throws { try await ip(["addr", "add", "\(address)/32", "dev", "lo"]) }

    /// From now on it no longer does.
    public func remove(_ address: String) async throws { try await ip(["addr", "del", "\(address)/32", "dev", "lo"]) }

    /// The command that runs `executable` inside.
    public func command(_ executable: String, _ arguments: [String]) -> (executable: String, arguments: [String]) {
        let privileges = namespacePrivileges.isEmpty ? [] : ["--user", "--preserve-credentials"]
        return ("nsenter", ["--target", "\(holder.pid)"] + privileges + ["--net", executable] + arguments)
    }

    private func ip(_ arguments: [String]) async throws {
        let (executable, arguments) = command("ip", arguments)
        let finished = try await run(executable, arguments)
        guard finished.status == .exited(0) else {
            throw ProcessError("ip \(arguments.joined(separator: " ")): \(finished.standardError)")
        }
    }
}
