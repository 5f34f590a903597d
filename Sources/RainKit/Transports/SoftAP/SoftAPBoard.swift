// SPDX-License-Identifier: Apache-2.0
import ESPProvisioning
import ProtocommTransports
import RainDBus
import RainIO

/// A board that is reached over its own access point.
///
/// The first question joins its network, and this machine is back on its own before the cloud is asked anything again: once the board has
/// said what came of its Wi-Fi, or is lost, and in any case in the end.
actor SoftAPBoard: Board {
    nonisolated let peer: String
    private let network: BoardNetwork
    private let name: String?
    private let hasPassword: Bool
    private let tell: @Sendable (NetworkChange) -> Void
    /// Another conversation with the board, of which nothing is asked yet.
    private let connect: @Sendable () -> any Board
    private var board: any Board
    private var hasLeft = false
    private var hasAskedUser = false

    init(_ request: BoardNetwork.Request, peer: String, connect: @escaping @Sendable () -> any Board) {
        self.peer = peer
        self.connect = connect
        name = request.name
        hasPassword = request.password != nil
        tell = request.tell
        network = BoardNetwork(request)
        board = connect()
    }

    var isOffline: Bool { get async { await network.isAway && !DefaultRoute.exists } }

    func identify() async throws(ProvisioningError) -> BoardIdentity {
        switch try await network.enter() {
        case .here: return try await board.identify()
        case .byHand(let why): return try await identifyOnceJoined(why)
        }
    }

    func secure() async throws(ProvisioningError) { try await board.secure() }
    func scan() async throws(ProvisioningError) -> [AccessPoint] { try await board.scan() }
    func reset() async throws(ProvisioningError) { try await board.reset() }
    func join(_ network: WiFiNetwork) async throws(ProvisioningError) { try await join(network) { _ in } }

    func join(
        _ network: WiFiNetwork, report: @Sendable (WiFiProgress) async -> Void
    ) async throws(ProvisioningError) {
        do throws(ProvisioningError) {
            try await board.join(network, report: report)
        } catch {
            if error.code == .mayBeJoining { await leave() }
            throw error
        }
    }

    func watch(report: @Sendable (WiFiProgress) async -> Void) async throws(ProvisioningError) -> JoinedNetwork {
        do throws(ProvisioningError) {
            let joined = try await board.watch(report: report)
            await leave()
            return joined
        } catch {
            // After a verdict the same session may be handed another network.
            if error.code == .deviceLost { await leave() }
            throw error
        }
    }

    func cloudContact() async throws(ProvisioningError) -> CloudContact? {
        hasLeft ? nil : try await board.cloudContact()
    }

    func associate(_ request: AssociationRequest) async throws(ProvisioningError) -> AssociationReply {
        try await board.associate(request)
    }

    func startClaim() async throws(ProvisioningError) -> [UInt8] { try await board.startClaim() }
    func requestCertificate(_ reply: [UInt8]) async throws(ProvisioningError) -> [UInt8] {
        try await board.requestCertificate(reply)
    }
    func storeCertificate(_ reply: [UInt8]) async throws(ProvisioningError) {
        try await board.storeCertificate(reply)
    }
    func abortClaim() async -> Bool { await board.abortClaim() }

    func send(_ payload: [UInt8], to endpoint: String) async throws(ProvisioningError) -> [UInt8] {
        try await board.send(payload, to: endpoint)
    }

    func close() async { await leave() }

    private func leave() async {
        hasLeft = true
        await board.close()
        await network.leave()
    }

    // MARK: where the user joins the network

    /// Asks the board, and begins anew when this machine gets an address in the network of boards meanwhile: what was under way went
    /// elsewhere.
    private func identifyOnceJoined(_ why: NetworkManagerError) async throws(ProvisioningError) -> BoardIdentity {
        if !hasAskedUser, !BoardNetworkAddress.isHere {
            hasAskedUser = true
            tell(.joinByHand(name, hasPassword: hasPassword, why: why.message))
        }
        let result: Result<BoardIdentity, ProvisioningError>?
        if BoardNetworkAddress.isHere {
            result = nil
        } else {
            let board = board
            result = await race(against: { try await BoardNetworkAddress.appearance() }) {
                () async throws(ProvisioningError) in try await board.identify()
            }
        }
        if case .success(let identity)? = result { return identity }
        if case .failure(let error)? = result, ![.unavailable, .neverAnswered].contains(error.code) { throw error }
        // A board that did not answer, or not here, is asked by a new conversation.
        await board.close()
        board = connect()
        guard case .failure(var error)? = result else { return try await board.identify() }
        let network = name.map { "the board's Wi-Fi network \($0)" } ?? "the board's Wi-Fi network (PROV_…)"
        // Whatever answered is not the board: this machine is on another network.
        error.message =
            "This machine is not on \(network), and this program cannot join it: \(why.message) Join it, and run this again. "
            + "(\(error.message))"
        if error.reason == "not_a_board" { error.reason = nil }
        throw error
    }
}
