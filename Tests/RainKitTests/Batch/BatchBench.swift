// SPDX-License-Identifier: Apache-2.0
import ESPProvisioning
import RainAccount
import RainCore
import RainKitTesting
import RainMaker
import Synchronization
import TestSupport

@testable import RainKit

/// Boards, a cloud and a ledger in this process, and stations that work with them. What the boards and the cloud know outlives a station, as
/// real ones do.
final class BatchBench: Sendable {
    let boards: BenchBoards
    let cloud = BenchCloud()
    /// The time of the ledger.
    let clock = ManualWallClock()
    private let folder: TemporaryFolder

    /// - Parameter staysReachable: whether boards can still be reached after they have joined their network.
    init(_ count: Int, _ folder: TemporaryFolder, staysReachable: Bool = false) {
        self.folder = folder
        boards = BenchBoards(count, cloud, staysReachable: staysReachable)
    }

    static let home = try! WiFiNetwork(ssid: SSID("Home"), passphrase: Secret("correct horse"))

    private func client() -> RainKitClient {
        var configuration = RainKitConfiguration(state: folder.file("state"))
        configuration.transports = [boards]
        return RainKitClient(configuration)
    }

    func ledger() async throws -> SQLiteLedger {
        try await SQLiteLedger.open(path: folder.file("ledger.sqlite"), clock: clock)
    }

    /// The file with all boards, in the lines from 2 on.
    /// - Parameter nodeName: the name that each node gets in the account; nil for none.
    func file(nodeName: String? = nil) throws -> BatchFile {
        var defaults = BatchDefaults()
        defaults.network = Self.home
        defaults.transports = ["bench"]
        let lines = boards.names.map { "bench:\($0),\(nodeName ?? "")" }
        return try BatchFile(Array((["address,node_name"] + lines).joined(separator: "\n").utf8), defaults: defaults)
    }

    func batch(_ file: BatchFile?, in ledger: any Ledger) async throws -> Batch {
        try await ledger.create(
            NewBatch(
                file: "/boards.csv", sha256: file?.sha256 ?? "", deployment: "bench", user: "user-1",
                created: UnixTime(seconds: 1_800_000_000), boards: file?.entries.map(\.board) ?? []))
    }

    /// Works on a batch as one station until its end.
    func work(
        on batch: Batch, _ file: BatchFile?, in ledger: any Ledger, options: BatchOptions = BatchOptions(),
        stop: BatchStop = BatchStop(),
        report: @escaping @Sendable (BatchEvent) -> Void = { _ in }
    ) async throws -> BatchCounts {
        let cloud = cloud
        var runner = BatchRunner(
            client: client(), ledger: ledger, batch: batch, options: options, stop: stop, report: report)
        runner.account = {
            Onboarder.Cloud(mapping: cloud, pending: InMemoryPendingMappings()) {
                () async throws(AccountError) in try await cloud.user()
            }
        }
        return try await runner.run(file?.entries ?? [])
    }
}

/// A cloud that knows which board told it which secret, as the simulator does.
actor BenchCloud: NodeMapping {
    /// The confirmed mappings of each node, in their order.
    private(set) var confirmations: [NodeID: Int] = [:]
    private(set) var calls: [String] = []
    /// The secrets that boards have reported.
    private var reported: [NodeID: MappingSecret] = [:]
    private var requests: [RequestID: (node: NodeID, secret: MappingSecret, isConfirmed: Bool)] = [:]
    private var online: Set<NodeID> = []
    /// Calls that fail as if the network were gone, by name; `all` stands for each call.
    private var away: [String: Int] = [:]

    /// Makes the next `count` calls of this name fail.
    func goAway(_ call: String, times count: Int) { away[call] = count }

    private func note(_ call: String) throws(AccountError) {
        calls.append(call)
        for name in [call, "all"] {
            guard let count = away[name], count > 0 else { continue }
            away[name] = count - 1
            throw AccountError(.network, message: "the cloud is away")
        }
    }

    func user() throws(AccountError) -> UserID {
        try note("user")
        return UserID("user-1")
    }

    func addMapping(node: NodeID, secret: MappingSecret, notes: MappingNotes) throws(AccountError) -> RequestID {
        try note("add")
        let request = RequestID("request-\(requests.count + 1)")
        requests[request] = (node, secret, false)
        match(node)
        return request
    }

    func mappingStatus(_ request: RequestID) throws(AccountError) -> MappingStatus {
        try note("status")
        guard let request = requests[request] else { return .discarded }
        return request.isConfirmed ? .confirmed : .requested
    }

    private func match(_ node: NodeID) {
        for (id, request) in requests
        where request.node == node && request.secret == reported[node] && !request.isConfirmed {
            requests[id]?.isConfirmed = true
            confirmations[node, default: 0] += 1
        }
    }

    func connectivity(of node: NodeID) throws(AccountError) -> Node.Connectivity? {
        try note("connectivity")
        guard confirmations[node] != nil else { throw AccountError(.unknownNode, message: "not in this account") }
        return Node.Connectivity(isConnected: online.contains(node))
    }

    func initiateChallenge(lifetime: Duration) throws(AccountError) -> MappingChallenge {
        throw AccountError(.unsupported, message: "no challenges")
    }

    func verifyChallenge(_ request: RequestID, node: NodeID, signature: [UInt8], notes: MappingNotes) {}

    /// A board is on its network, and reports its secret.
    func report(_ node: NodeID, _ secret: MappingSecret?) {
        online.insert(node)
        if let secret { reported[node] = secret }
        match(node)
    }
}

/// Boards that answer at once.
final class BenchBoards: BoardTransport {
    let scheme = "bench"
    let names: [String]
    private let boards: [String: BenchBoard]
    /// Why the next searches fail.
    let failures = Mutex<[BoardError]>([])
    /// Whether searches learn the names of boards. A search of cables does not.
    let findsNames = Mutex(true)
    var canDiscover: Bool { true }

    init(_ count: Int, _ cloud: BenchCloud, staysReachable: Bool) {
        names = (0..<count).map { "board-\(100 + $0)" }
        boards = Dictionary(uniqueKeysWithValues: names.map { ($0, BenchBoard($0, cloud, staysReachable)) })
    }

    func board(_ name: String) -> BenchBoard? { boards[name] }

    func discover(_ search: BoardSearch, found: @Sendable (FoundBoard) async -> Bool) async throws(BoardError) {
        if let failure = failures.withLock({ $0.isEmpty ? nil : $0.removeFirst() }) { throw failure }
        let findsNames = findsNames.withLock { $0 }
        for name in names {
            let address = BoardAddress(scheme: scheme, location: name)
            guard await found(FoundBoard(address, name: findsNames ? name : nil)) else { return }
        }
        do { try await Task.sleep(for: .seconds(3600)) } catch { throw BoardError(.cancelled, message: "Cancelled.") }
    }

    func board(at address: BoardAddress, _ opening: BoardOpening) async throws(BoardError) -> any Board {
        guard let board = boards[address.location ?? ""], await board.isReachable else {
            throw BoardError(.unavailable, message: "Nothing answers.", reason: "not_found")
        }
        return board
    }
}

/// A board that joins each network at once, and is not to be found afterwards.
actor BenchBoard: Board {
    nonisolated let peer: String
    private let node: NodeID
    private let cloud: BenchCloud
    private var secret: MappingSecret?
    private let staysReachable: Bool
    private(set) var isReachable = true
    private(set) var associations = 0
    /// How the next calls of ``identify()`` fail.
    private var faults: [BoardError] = []
    /// What its log says at its start, if it has a log.
    private var printed: PrintedIdentity?

    init(_ name: String, _ cloud: BenchCloud, _ staysReachable: Bool) {
        self.staysReachable = staysReachable
        peer = name
        node = NodeID("node-of-\(name)")
        self.cloud = cloud
    }

    func fail(with faults: [BoardError]) { self.faults = faults }

    /// Makes its log show the name of its provisioning service.
    func prints(_ name: String) {
        var printed = PrintedIdentity()
        printed.serviceName = name
        self.printed = printed
    }

    func identify() throws(BoardError) -> BoardIdentity {
        if !faults.isEmpty { throw faults.removeFirst() }
        var identity = BoardIdentity(association: .userMapping, needsClaim: false, version: "netprov-v1.2")
        identity.printed = printed
        return identity
    }

    func secure() {}
    func scan() -> [AccessPoint] { [] }

    func associate(_ request: AssociationRequest) throws(BoardError) -> AssociationReply {
        guard case .userMapping(_, let secret) = request else {
            throw BoardError(.unsupported, message: "no challenges")
        }
        associations += 1
        self.secret = secret
        return AssociationReply(nodeID: node)
    }

    func join(_ network: WiFiNetwork) async {
        isReachable = staysReachable
        await cloud.report(node, secret)
    }

    func watch(report: @Sendable (WiFiProgress) async -> Void) async -> JoinedNetwork {
        JoinedNetwork(address: "192.168.1.20", ssid: SSID("Home"))
    }

    func reset() {}
    func close() {}
}
