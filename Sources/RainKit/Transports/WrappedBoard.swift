// SPDX-License-Identifier: Apache-2.0
import ESPProvisioning

/// A board that changes some answers of another board. A wrapper has only the calls that it changes; all others reach the inner board here.
///
/// There are two: ``LoggedBoard`` completes what a board answers by what it prints, and ``SoftAPBoard`` leaves the board's network in the
/// middle of a run. Both act during a run, so neither could be part of opening the board.
protocol WrappedBoard: Board {
    var inner: any Board { get async }

    /// Runs one call of the inner board. `isOffline`, `endAssociation`, `abortClaim` and `cloudContact` reach it directly.
    func call<Answer: Sendable>(
        _ step: @Sendable (any Board) async throws(BoardError) -> Answer
    ) async throws(BoardError) -> Answer
}

extension WrappedBoard {
    func call<Answer: Sendable>(
        _ step: @Sendable (any Board) async throws(BoardError) -> Answer
    ) async throws(BoardError) -> Answer { try await step(await inner) }

    var isOffline: Bool { get async { await inner.isOffline } }
    var leavesNetwork: Bool { get async { await inner.leavesNetwork } }

    func identify() async throws(BoardError) -> BoardIdentity {
        try await call { (board) async throws(BoardError) in try await board.identify() }
    }
    func secure() async throws(BoardError) {
        try await call { (board) async throws(BoardError) in try await board.secure() }
    }
    func scan() async throws(BoardError) -> [AccessPoint] {
        try await call { (board) async throws(BoardError) in try await board.scan() }
    }
    func startClaim() async throws(BoardError) -> [UInt8] {
        try await call { (board) async throws(BoardError) in try await board.startClaim() }
    }
    func requestCertificate(_ reply: [UInt8]) async throws(BoardError) -> [UInt8] {
        try await call { (board) async throws(BoardError) in try await board.requestCertificate(reply) }
    }
    func storeCertificate(_ reply: [UInt8]) async throws(BoardError) {
        try await call { (board) async throws(BoardError) in try await board.storeCertificate(reply) }
    }
    func abortClaim() async -> Bool { await inner.abortClaim() }
    func associate(_ request: AssociationRequest) async throws(BoardError) -> AssociationReply {
        try await call { (board) async throws(BoardError) in try await board.associate(request) }
    }
    func endAssociation() async throws(BoardError) { try await inner.endAssociation() }
    func join(_ network: WiFiNetwork) async throws(BoardError) {
        try await call { (board) async throws(BoardError) in try await board.join(network) }
    }
    func join(
        _ network: WiFiNetwork, report: @Sendable (WiFiProgress) async -> Void
    ) async throws(BoardError) {
        try await call { (board) async throws(BoardError) in try await board.join(network, report: report) }
    }
    func watch(report: @Sendable (WiFiProgress) async -> Void) async throws(BoardError) -> JoinedNetwork {
        try await call { (board) async throws(BoardError) in try await board.watch(report: report) }
    }
    func cloudContact() async throws(BoardError) -> CloudContact? { try await inner.cloudContact() }
    func reset() async throws(BoardError) {
        try await call { (board) async throws(BoardError) in try await board.reset() }
    }
    func send(_ payload: [UInt8], to endpoint: String) async throws(BoardError) -> [UInt8] {
        try await call { (board) async throws(BoardError) in try await board.send(payload, to: endpoint) }
    }
}
