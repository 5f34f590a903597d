// SPDX-License-Identifier: Apache-2.0
import Protocomm
import ProtocommCore

/// Checks the guarantees of every `Transport`. Run it on a new transport before you build on it.
///
/// The board at the other end answers according to ``Board/reply(to:)``, on `prov-config` only. Each check uses a separate transport and
/// board, because some checks leave a board without an answer.
///
///     try await TransportConformance.check { MyTransport(to: boardThatReplies(TransportConformance.Board.reply)) }
public enum TransportConformance {
    /// The behaviour of the board at the other end.
    public enum Board {
        /// The result of the board's handler for one request.
        public enum Reply: Sendable, Equatable {
            /// Answers with these bytes.
            case answer([UInt8])
            /// Reports a failed handler in the way of the transport's firmware.
            case refuse
            /// Never answers.
            case silence
        }

        /// Refuses a request that begins with EE, does not answer one that begins with DD, and returns any other in reverse order.
        public static func reply(to request: [UInt8]) -> Reply {
            switch request.first {
            case 0xEE: .refuse
            case 0xDD: .silence
            default: .answer(request.reversed())
            }
        }
    }

    /// A broken guarantee, and the transport's behaviour.
    public struct Failure: Error, CustomStringConvertible {
        /// The guarantee, as one sentence.
        public var promise: String
        /// The transport's actual behaviour.
        public var detail: String
        public var description: String { "\(promise): \(detail)" }
    }

    /// Runs all checks; throws the first ``Failure``.
    public static func check(_ make: @Sendable () async throws -> any Transport) async throws {
        for check in [answers, limits, refusals, cancellation, closing] {
            let transport = try await make()
            do {
                try await check(transport)
            } catch {
                await transport.close()
                throw error
            }
            await transport.close()
        }
    }

    // MARK: - The guarantees

    private static func answers(_ transport: any Transport) async throws {
        let promise = "an answer comes back as the board sent it"
        if transport.peer.isEmpty { throw Failure(promise: promise, detail: "the peer has no name") }
        for start in stride(from: 0, to: 256, by: 32) {
            // With a leading 1, the board does not read the byte values as a command.
            let request = [1] + (start..<(start + 32)).map { UInt8($0) }
            try await expectEcho(request, transport, promise)
        }
        for number in 0..<20 { try await expectEcho([UInt8(number)], transport, promise) }
    }

    private static func limits(_ transport: any Transport) async throws {
        let promise = "the longest request passes, and a longer one fails before it is sent"
        guard let limit = transport.maximumRequestLength(on: .config) else { return }
        try await expectEcho([UInt8](repeating: 7, count: limit), transport, promise)
        try await expect(.tooLong, promise) {
            try await transport.exchange([UInt8](repeating: 7, count: limit + 1), on: .config)
        }
        try await expectEcho([1, 2], transport, promise)
    }

    private static func refusals(_ transport: any Transport) async throws {
        let promise = "a refusal is reported as a refusal, and the next exchange works"
        try await expectEcho([1], transport, promise)
        for _ in 0..<3 {
            try await expect(.refused, promise) { try await transport.exchange([0xEE], on: .config) }
            try await expectEcho([1, 2, 3], transport, promise)
        }
    }

    private static func cancellation(_ transport: any Transport) async throws {
        let promise = "a cancelled exchange ends at once"
        try await expectEcho([1], transport, promise)
        for pause in [0, 30] {
            let task = Task { try await transport.exchange([0xDD], on: .config) }
            if pause > 0 { try await Task.sleep(for: .milliseconds(pause)) }
            task.cancel()
            try await expect(.cancelled, promise) { try await task.value }
        }
    }

    private static func closing(_ transport: any Transport) async throws {
        let promise = "closing ends the current exchange, and all later exchanges"
        try await expectEcho([1], transport, promise)
        let task = Task { try await transport.exchange([0xDD], on: .config) }
        try await Task.sleep(for: .milliseconds(30))
        await transport.close()
        await transport.close()
        try await expect(.cancelled, promise) { try await task.value }
        try await expect(.cancelled, promise) { try await transport.exchange([1], on: .config) }
    }

    // MARK: - Expecting

    private static func expectEcho(_ request: [UInt8], _ transport: any Transport, _ promise: String) async throws {
        let answer: [UInt8]
        do {
            answer = try await transport.exchange(request, on: .config)
        } catch {
            throw Failure(promise: promise, detail: "\(request.count) bytes were answered with \(error)")
        }
        guard answer == request.reversed() else {
            throw Failure(promise: promise, detail: "\(request.count) bytes came back as \(answer.count) other ones")
        }
    }

    private static func expect(
        _ code: BoardError.Code, _ promise: String, _ body: () async throws -> [UInt8]
    ) async throws {
        do {
            _ = try await body()
        } catch let error as BoardError {
            if error.code == code { return }
            throw Failure(promise: promise, detail: "expected \(code), got \(error)")
        }
        throw Failure(promise: promise, detail: "expected \(code), got an answer")
    }
}
