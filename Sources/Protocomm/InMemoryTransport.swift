// SPDX-License-Identifier: Apache-2.0
import ProtocommCore
import Synchronization

/// A transport to a board in the same process: for tests, and for programs that embed a board's protocol stack.
///
/// The board is a closure that takes a request and returns an answer, or nil to refuse it as firmware does. Faults can be injected before
/// each exchange.
public final class InMemoryTransport: Transport {
    /// Answers one request; nil refuses it.
    public typealias Board = @Sendable (_ request: [UInt8], _ endpoint: Endpoint) async -> [UInt8]?

    /// A fault in one exchange.
    public enum Fault: Sendable, Equatable {
        /// The request never arrives, and no answer comes.
        case loseRequest
        /// The board acts on the request, but its answer never arrives.
        case loseAnswer
        /// The answer arrives late by this duration.
        case delay(Duration)
        /// The board does not see the request, and the transport reports a refusal.
        case refuse
        /// Only this many bytes of the answer arrive.
        case truncateAnswer(Int)
        /// The transport throws this error, and the board does not see the request.
        case fail(BoardError.Code)
    }

    public let peer: String
    public let deadlines: ExchangeDeadlines
    public let restoresLinks: Bool
    private let limit: Int?
    private let clock: any Clock<Duration>
    private let fault: @Sendable (_ exchange: Int, _ endpoint: Endpoint) -> Fault?
    private let board: Board
    private let count = Atomic(0)
    private let open = OpenExchanges()

    /// - Parameters:
    ///   - maximumRequestLength: the result of ``maximumRequestLength(on:)`` for every endpoint.
    ///   - clock: measures `delay`.
    ///   - fault: called before each exchange with its number, from 0.
    public init(
        peer: String = "in memory", maximumRequestLength: Int? = nil, deadlines: ExchangeDeadlines = .standard,
        restoresLinks: Bool = false, clock: any Clock<Duration> = ContinuousClock(),
        fault: @escaping @Sendable (_ exchange: Int, _ endpoint: Endpoint) -> Fault? = { _, _ in nil },
        board: @escaping Board
    ) {
        self.peer = peer
        self.deadlines = deadlines
        self.restoresLinks = restoresLinks
        limit = maximumRequestLength
        self.clock = clock
        self.fault = fault
        self.board = board
    }

    public func maximumRequestLength(on endpoint: Endpoint) -> Int? { limit }

    public func exchange(_ request: [UInt8], on endpoint: Endpoint) async throws(BoardError) -> [UInt8] {
        if let limit, request.count > limit {
            throw error(.tooLong, endpoint, "The request has \(request.count) bytes; the limit is \(limit).")
        }
        guard !Task.isCancelled else { throw cancelled(endpoint) }
        let number = count.wrappingAdd(1, ordering: .relaxed).oldValue
        let result = await open.run { () async throws(BoardError) in
            try await self.perform(request, endpoint, self.fault(number, endpoint))
        }
        guard let result else { throw error(.cancelled, endpoint, "The transport is closed.") }
        return try result.get()
    }

    private func perform(
        _ request: [UInt8], _ endpoint: Endpoint, _ fault: Fault?
    ) async throws(BoardError) -> [UInt8] {
        switch fault {
        case .loseRequest:
            throw await silence(endpoint)
        case .loseAnswer:
            _ = await board(request, endpoint)
            throw await silence(endpoint)
        case .delay(let duration):
            let answer = await board(request, endpoint)
            do { try await clock.sleep(for: duration) } catch { throw cancelled(endpoint) }
            return try finish(answer, endpoint)
        case .refuse:
            return try finish(nil, endpoint)
        case .truncateAnswer(let count):
            return try finish(await board(request, endpoint).map { Array($0.prefix(count)) }, endpoint)
        case .fail(let code):
            throw error(code, endpoint, "A fault was injected.")
        case nil:
            return try finish(await board(request, endpoint), endpoint)
        }
    }

    /// Waits until the exchange is cancelled.
    private func silence(_ endpoint: Endpoint) async -> BoardError {
        let (nothing, end) = AsyncStream.makeStream(of: Never.self)
        await withTaskCancellationHandler {
            for await _ in nothing {}
        } onCancel: {
            end.finish()
        }
        return cancelled(endpoint)
    }

    public func close() async { open.close() }

    private func finish(_ answer: [UInt8]?, _ endpoint: Endpoint) throws(BoardError) -> [UInt8] {
        guard !Task.isCancelled else { throw cancelled(endpoint) }
        guard let answer else { throw error(.refused, endpoint, "The board refused the request: its answer is empty.") }
        return answer
    }

    private func cancelled(_ endpoint: Endpoint) -> BoardError {
        error(.cancelled, endpoint, "The exchange was cancelled.")
    }

    private func error(_ code: BoardError.Code, _ endpoint: Endpoint, _ message: String) -> BoardError {
        BoardError(code, endpoint: endpoint, peer: peer, message: message)
    }
}
