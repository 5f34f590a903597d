// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import CloudSimulator
import Glibc
import RainJSON

/// The command `cloud-sim identity`.
struct SimulateIdentity: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "identity",
        abstract: "Simulated identity systems, each on its own port.",
        discussion: """
            Example: cloud-sim identity --provider spid

            When the systems are ready, cloud-sim prints one line of JSON with their addresses. Example:
            {"ready":true,"providers":{"spid":"http://…"}}

            cloud-sim also serves a backend that stores the owners of nodes. The member "mapping" of that line has the backend's
            address, and the description for rainctl's option --backend (docs/own-cloud.md).
            The systems have the paths of the real systems. docs/simulated-identity.md names their users, clients and secrets.
            SIGTERM and SIGINT end cloud-sim. Exit codes: 64: wrong options. 69: a port is taken. 70: internal failure. 74: the
            journal cannot be written.
            """)

    @Option(
        name: .customLong("provider"),
        help: ArgumentHelp(
            "Simulate this system; repeatable (default: all systems).",
            valueName: "NAME"))
    var providers: [IdentitySystem] = []

    @Option(
        help: ArgumentHelp(
            "Listen on this address. Give a port only with a single provider, because several providers use free ports.",
            valueName: "HOST:PORT"))
    var listen = ListenAddress(host: "127.0.0.1", port: 0)

    @Option(help: ArgumentHelp("Append events to this file, as NDJSON without secrets.", valueName: "FILE"))
    var journal: String?

    func validate() throws {
        guard listen.port == 0 || providers.count == 1 else {
            throw ValidationError("--listen takes a port only with a single --provider.")
        }
        guard Set(providers).count == providers.count else {
            throw ValidationError("--provider is given twice with the same name.")
        }
    }

    func run() throws {
        let ending = EndingSignals()
        let servers: [IdentityServer]
        let backend: OwnCloudServer
        do {
            (servers, backend) = try start()
        } catch {
            write("cloud-sim: \(error.description)\n", to: STDERR_FILENO)
            throw error.exitCode
        }
        let addresses = JSONValue.object(servers.map { .init($0.api.system.rawValue, .string($0.url)) })
        let ready: JSONValue = [
            "ready": true, "providers": addresses,
            "mapping": ["url": .string(backend.url), "description": backend.description],
        ]
        write(String(decoding: ready.serialized(), as: UTF8.self) + "\n", to: STDOUT_FILENO)
        _ = ending.wait()
        backend.stop()
        for server in servers { server.stop() }
    }

    private func start() throws(SimulatorError) -> ([IdentityServer], OwnCloudServer) {
        let journal = try Journal(path: journal)
        var servers: [IdentityServer] = []
        for provider in providers.isEmpty ? IdentitySystem.allCases : providers {
            servers.append(try IdentityServer(provider: provider, listen: listen, journal: journal))
        }
        return (servers, try OwnCloudServer(systems: servers.map(\.api), host: listen.host, journal: journal))
    }
}

extension IdentitySystem: ExpressibleByArgument {}
