// SPDX-License-Identifier: Apache-2.0
import Protocomm
import ProtocommCore
import Synchronization

/// A board's protocomm stack without its services: version, handshake and cipher of one security scheme. A closure behind them answers all
/// other endpoints in plain bytes.
///
///     let board = SecuredBoard(Security0Device()) { request, _ in request }
///     let session = ProtocommSession(transport: InMemoryTransport { await board.answer($0, on: $1) })
public final class SecuredBoard<Scheme: DeviceSecurityScheme>: Sendable {
    /// Answers a decrypted request; nil if the handler fails.
    public typealias Handler = @Sendable (_ request: [UInt8], _ endpoint: Endpoint) -> [UInt8]?

    private struct State {
        var scheme: Scheme
        var cipher: Scheme.Cipher?
    }

    private let state: Mutex<State>
    private let version: [UInt8]
    private let handler: Handler

    /// - Parameter version: the answer on `proto-ver`.
    public init(_ scheme: Scheme, version: String = "{}", handler: @escaping Handler) {
        state = Mutex(State(scheme: scheme, cipher: nil))
        self.version = Array(version.utf8)
        self.handler = handler
    }

    /// Returns the board's answer as it is sent; nil if firmware would not answer.
    public func answer(_ request: [UInt8], on endpoint: Endpoint) async -> [UInt8]? {
        if endpoint == .version { return version }
        return state.withLock { state in
            endpoint == .session ? shakeHands(request, &state) : serve(request, endpoint, &state)
        }
    }

    private func shakeHands(_ request: [UInt8], _ state: inout State) -> [UInt8]? {
        switch try? state.scheme.respond(to: request) {
        case .reply(let reply):
            state.cipher = nil
            return reply
        case .established(let reply, let cipher):
            state.cipher = cipher
            return reply
        case nil:
            return nil
        }
    }

    private func serve(_ request: [UInt8], _ endpoint: Endpoint, _ state: inout State) -> [UInt8]? {
        guard let plain = try? state.cipher?.decrypt(request), let answer = handler(plain, endpoint) else { return nil }
        return try? state.cipher?.encrypt(answer)
    }
}
