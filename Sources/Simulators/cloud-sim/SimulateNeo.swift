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

            When the simulator is ready, it prints one line of JSON with the addresses, and the paths of the certificates. Its member
            "outputs" describes the deployment for rainctl profile add --neo. docs/neo.md names the users and the simulated features.
            SIGTERM and SIGINT end the simulator and its broker. Exit codes: 64: wrong options. 69: mosquitto is missing, or a port is
            taken. 70: internal failure. 74: the journal or the data folder cannot be used.
            """)

    @Option(help: ArgumentHelp("Serve the main API at this address (port 0: any free port).", valueName: "HOST:PORT"))
    var listen = ListenAddress(host: "127.0.0.1", port: 0)

    @Option(
        help: ArgumentHelp("Keep the keys of nodes in this folder (default: a temporary folder).", valueName: "DIR"))
    var data: String?

    @Option(
        name: .customLong("node"),
        help: ArgumentHelp(
            "Issue a certificate for this node (P-256, or RSA-2048 with :rsa); repeatable.", valueName: "ID[:rsa]"))
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
            write("cloud-sim: the broker (mosquitto) stopped unexpectedly; start cloud-sim again\n", to: STDERR_FILENO)
            throw ExitCode(EX_SOFTWARE)
        }
    }
}
