// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import CloudSimulator
import Glibc
import RainJSON

/// The command `cloud-sim neo`.
struct SimulateNeo: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "neo",
        abstract: "A simulated RainMaker Neo: accounts, main API and MQTT broker on this machine.",
        discussion: """
            Example: cloud-sim neo --node 00000000-0000-4000-8000-000000000001

            When it is ready it prints one JSON line with the addresses, and the paths of the certificates. "outputs" in it is the
            description of the deployment that rainctl profile add --neo takes. docs/neo.md names the users, and what is simulated.
            SIGTERM and SIGINT end it, and its broker. Exit codes: 64 wrong options, 69 mosquitto or a port is missing, 70 a failure
            inside, 74 the journal or the data folder cannot be used.
            """)

    @Option(help: ArgumentHelp("Address of the main API (port 0: a free port).", valueName: "HOST:PORT"))
    var listen = ListenAddress(host: "127.0.0.1", port: 0)

    @Option(help: ArgumentHelp("Folder for the keys of nodes (default: a temporary folder).", valueName: "DIR"))
    var data: String?

    @Option(
        name: .customLong("node"),
        help: ArgumentHelp("Issue a certificate for this node, P-256 or RSA-2048; repeatable.", valueName: "ID[:rsa]"))
    var nodes: [NodeSpecification] = []

    @Option(help: ArgumentHelp("Append events to this file, as NDJSON without secrets.", valueName: "FILE"))
    var journal: String?

    func run() throws {
        let ending = EndingSignals(also: [SIGUSR1])
        let server: NeoServer
        let owner: FolderOwner?
        do {
            owner = try data.map { path throws(SimulatorError) in try FolderOwner(alone: path) }
            // SIGUSR1 ends the wait for signals below; no other code sends it.
            server = try NeoServer(
                listen: listen, dataFolder: data, nodes: nodes, journal: try Journal(path: journal),
                onBrokerDeath: { kill(getpid(), SIGUSR1) })
        } catch {
            write("cloud-sim: \(error.description)\n", to: STDERR_FILENO)
            throw error.exitCode
        }
        write(String(decoding: server.readyLine.serialized(), as: UTF8.self) + "\n", to: STDOUT_FILENO)
        let number = ending.wait()
        server.stop()
        withExtendedLifetime(owner) {}
        if number == SIGUSR1 {
            write("cloud-sim: its broker, mosquitto, ended by itself; start cloud-sim again\n", to: STDERR_FILENO)
            throw ExitCode(EX_SOFTWARE)
        }
    }
}
