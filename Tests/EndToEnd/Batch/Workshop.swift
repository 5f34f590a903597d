// SPDX-License-Identifier: Apache-2.0
import RainJSON
import TestSupport

/// A workshop: a cloud, a radio with many boards, and a maker whose file lists them.
struct Workshop {
    let maker: Maker
    let cloud: SimulatedCloud
    let radio: SimulatedBluetooth
    let folder: TemporaryFolder

    static func open(
        _ count: Int, _ folder: TemporaryFolder, radio options: [String] = []
    ) async throws -> Workshop {
        let cloud = try await SimulatedCloud.start(nodes: (0..<count).map { "batch-node-\(1000 + $0)" }, in: folder)
        try folder.write(cloud.readyDocument, to: "nodes.json")
        let radio = try await SimulatedBluetooth.start(
            [
                "--boards", "\(count)", "--nodes", folder.file("nodes.json"), "--mapping", "ch-resp", "--seed", "7",
                "--mqtt", cloud.mqtt, "--ca", cloud.ca,
            ] + options, in: folder)
        let maker = try Maker(folder)
        try await maker.signIn(to: cloud)
        return Workshop(maker: maker, cloud: cloud, radio: radio, folder: folder)
    }

    /// Writes the file of the boards, with more lines after them.
    func write(_ more: [String] = [], without first: Int = 0) throws {
        let lines = radio.boards.dropFirst(first).map { "\($0.name),ble,\($0.proofOfPossession)" }
        try folder.write((["name,transport,pop"] + lines + more).joined(separator: "\n") + "\n", to: "boards.csv")
    }

    var common: [String] { ["--ssid", SimulatedBoard.ssid, "--passphrase-file", folder.file("wifi"), "--json"] }

    func run(_ arguments: [String]) async throws -> (status: Int, document: JSONValue, error: String) {
        let outcome = try await maker.rainctl(
            ["batch"] + arguments, environment: radio.environment, within: .seconds(600))
        let document = (try? JSONValue(parsing: Array(outcome.standardOutput.utf8))) ?? .null
        return (outcome.status, document, outcome.standardError)
    }

    func start(_ arguments: [String]) async throws -> ChildProcess {
        try await maker.start(["batch"] + arguments, environment: radio.environment)
    }

    /// The nodes that the cloud has confirmed, in the order of their confirmations.
    func confirmed() throws -> [String] {
        try cloud.journal.entries(where: ["event": "mapping", "state": "confirmed"]).compactMap { $0["node"]?.string }
    }

    func close() async throws {
        try await radio.process.terminate()
        try await radio.bus.end()
        try await cloud.process.terminate()
    }
}
