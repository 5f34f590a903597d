// SPDX-License-Identifier: Apache-2.0
import Synchronization

/// The body of an answer that arrives piece by piece, such as server-sent events.
package final class LocalStream: Sendable {
    private struct State {
        var pending: [UInt8] = []
        var isFinished = false
        /// The connection, while it is suspended because there is nothing to send.
        var suspended: Connection?
        var isClosed = false
        var whenClosed: (@Sendable () -> Void)?
    }

    private struct Connection: @unchecked Sendable { var object: MicroHTTPLibrary.Object }

    private let state = Mutex(State())

    package init() {}

    /// Whether the reader has taken everything so far.
    package var isIdle: Bool { state.withLock { $0.pending.isEmpty } }

    /// Sends bytes after those that were sent before. They are kept until the reader takes them, so send only while ``isIdle``.
    package func send(_ bytes: some Sequence<UInt8>) { wake { $0.pending += bytes } }

    /// Ends the answer after what was sent.
    package func finish() { wake { $0.isFinished = true } }

    /// Calls the closure once nobody reads any more, at once if that is known.
    package func onClose(_ call: @escaping @Sendable () -> Void) {
        let isClosed = state.withLock { state in
            if !state.isClosed { state.whenClosed = call }
            return state.isClosed
        }
        if isClosed { call() }
    }

    private func wake(_ change: (inout State) -> Void) {
        // The reader suspends its connection under the same lock, so no wake-up is lost.
        state.withLock { state in
            guard !state.isClosed else { return }
            change(&state)
            guard let connection = state.suspended else { return }
            state.suspended = nil
            MicroHTTPLibrary.shared?.resume(connection.object)
        }
    }

    /// Copies bytes for the library. Suspends the connection if there are none.
    func read(into buffer: UnsafeMutablePointer<CChar>, _ room: Int, of connection: MicroHTTPLibrary.Object) -> Int {
        let connection = Connection(object: connection)
        return state.withLock { state in
            if state.pending.isEmpty {
                if state.isFinished { return MicroHTTPLibrary.endOfStream }
                state.suspended = connection
                MicroHTTPLibrary.shared?.suspend(connection.object)
                return 0
            }
            let count = min(room, state.pending.count)
            for index in 0..<count { buffer[index] = CChar(bitPattern: state.pending[index]) }
            state.pending.removeFirst(count)
            return count
        }
    }

    func close() {
        let call = state.withLock { state in
            state.isClosed = true
            state.pending = []
            defer { state.whenClosed = nil }
            return state.whenClosed
        }
        call?()
    }
}
