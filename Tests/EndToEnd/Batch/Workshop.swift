// SPDX-License-Identifier: Apache-2.0
import Glibc
import RainJSON
import Synchronization
import TestSupport
import Testing

/// A workshop: a cloud, a radio with many boards, and a maker whose file lists them.
final class Workshop: Sendable {
    let maker: Maker
    /// The cloud, and before it those of which it has the data.
    private let clouds: Mutex<[SimulatedCloud]>
    /// The options with which the cloud can be started again.
    private let place: [String]
    let radio: SimulatedBluetooth
    let folder: TemporaryFolder

    var cloud: SimulatedCloud { clouds.withLock { $0[$0.count - 1] } }

    private init(
        _ maker: Maker, _ cloud: SimulatedCloud, _ place: [String], _ radio: SimulatedBluetooth,
        _ folder: TemporaryFolder
    ) {
        (self.maker, self.place, self.radio, self.folder) = (maker, place, radio, folder)
        clouds = Mutex([cloud])
    }

    /// Kills the cloud and its broker, and starts them again with the same data at the same places.
    func restartCloud(pause: Duration = .zero) async throws {
        try #require(!place.isEmpty)
        let old = cloud
        old.process.kill()
        _ = try await old.process.wait()
        // The broker ends with the cloud, and the boards know only its port.
        let port = UInt16(old.mqtt.split(separator: ":").last ?? "") ?? 0
        while !Self.isFree(port) { try await Task.sleep(for: .milliseconds(10)) }
        try await Task.sleep(for: pause)
        let new = try await SimulatedCloud.start(arguments: place, in: folder)
        try #require(new.mqtt == old.mqtt && new.api == old.api)
        clouds.withLock { $0.append(new) }
    }

    private static func isFree(_ port: UInt16) -> Bool {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer { Glibc.close(descriptor) }
        var yes: Int32 = 1
        setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &yes, socklen_t(MemoryLayout<Int32>.size))
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        return withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
            }
        }
    }

    /// - Parameter restarts: whether the cloud can be restarted. Such a cloud writes all its data with each change, which many boards at once
    ///   have to wait for.
    static func open(
        _ count: Int, _ folder: TemporaryFolder, radio options: [String] = [], restarts: Bool = false
    ) async throws -> Workshop {
        let place =
            restarts
            ? ["--data", folder.file("cloud-data"), "--listen", "127.0.0.1:\(try LoopbackServer.assignablePort())"]
            : []
        let cloud = try await SimulatedCloud.start(
            nodes: (0..<count).map { "batch-node-\(1000 + $0)" }, arguments: place, in: folder)
        try folder.write(cloud.readyDocument, to: "nodes.json")
        let radio = try await SimulatedBluetooth.start(
            [
                "--boards", "\(count)", "--nodes", folder.file("nodes.json"), "--mapping", "ch-resp", "--seed", "7",
                "--mqtt", cloud.mqtt, "--ca", cloud.ca,
            ] + options, in: folder)
        let maker = try Maker(folder)
        try await maker.signIn(to: cloud)
        return Workshop(maker, cloud, place, radio, folder)
    }

    /// Writes the file of the boards, with more lines after them.
    func write(_ more: [String] = [], without first: Int = 0) throws {
        let lines = radio.boards.dropFirst(first).map { "\($0.name),ble,\($0.proofOfPossession)" }
        try folder.write((["name,transport,pop"] + lines + more).joined(separator: "\n") + "\n", to: "boards.csv")
    }

    var common: [String] { ["--ssid", SimulatedBoard.ssid, "--passphrase-file", folder.file("wifi"), "--json"] }

    func run(_ arguments: [String]) async throws -> (status: Int, document: JSONValue, error: String) {
        let outcome = try await maker.rainctl(
            ["batch"] + arguments, environment: radio.environment, within: .waitLimit * 4)
        let document = (try? JSONValue(parsing: Array(outcome.standardOutput.utf8))) ?? .null
        return (outcome.status, document, outcome.standardError)
    }

    func start(_ arguments: [String]) async throws -> ChildProcess {
        try await maker.start(["batch"] + arguments, environment: radio.environment)
    }

    /// The nodes that the cloud has confirmed, in the order of their confirmations.
    func confirmed() throws -> [String] {
        // The last line of one that was killed may be torn.
        try clouds.withLock { $0.map(\.journal.path) }.flatMap { path in
            try readFile(path).split(separator: "\n").compactMap { try? JSONValue(parsing: Array($0.utf8)) }
                .filter { $0["event"] == "mapping" && $0["state"] == "confirmed" }
        }.compactMap { $0["node"]?.string }
    }

    /// The nodes that the cloud says are in the account. A cloud that is too busy to answer in time (75) is asked again.
    func nodes() async throws -> [String] {
        let end = ContinuousClock.now + .waitLimit
        var outcome: Maker.Outcome
        repeat {
            outcome = try await maker.rainctl(["node", "list", "--json"], within: .waitLimit)
        } while outcome.status == 75 && ContinuousClock.now < end
        #expect(outcome.status == 0, "\(outcome.standardError)")
        let document = try JSONValue(parsing: Array(outcome.standardOutput.utf8))
        return try #require(document["nodes"]?.array).compactMap { $0["node_id"]?.string }
    }

    /// Checks that the report, the ledger and the cloud agree: each board is done, and was mapped once.
    func check(_ report: JSONValue) async throws {
        // A cloud that is killed may have stored a mapping that its journal lacks, so the cloud itself is asked.
        let confirmed = try confirmed()
        #expect(confirmed.count == Set(confirmed).count, "a board was mapped twice")
        let nodes = try await nodes()
        #expect(nodes.count == radio.boards.count && Set(confirmed).isSubset(of: nodes))
        let boards = report["boards"]?.array ?? []
        #expect(boards.count == radio.boards.count && boards.allSatisfy { $0["state"]?.string == "done" })
        #expect(boards.compactMap { $0["node_id"]?.string }.sorted() == nodes.sorted())
    }

    func close() async throws {
        try await radio.process.terminate()
        try await radio.bus.end()
        try await cloud.process.terminate()
    }
}
