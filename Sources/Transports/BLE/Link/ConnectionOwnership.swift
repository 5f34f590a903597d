// SPDX-License-Identifier: Apache-2.0
import Synchronization

/// The boards that the transports of this process use exclusively. To BlueZ a process is one client: all its callers share a link, and if
/// one disconnects, it ends for all.
final class ConnectionOwnership: Sendable {
    fileprivate struct Entry {
        var id: Int
        /// Not connected yet, but about to be.
        var isConnecting = true
    }

    fileprivate struct State {
        var nextID = 0
        var entries: [String: Entry] = [:]
    }

    private let state = Mutex(State())
    private let freed: @Sendable (String) -> Void

    /// - Parameter freed: called with each board that no transport uses any longer.
    init(freed: @escaping @Sendable (String) -> Void) { self.freed = freed }

    /// Takes a board, by its path; returns nil if a transport is connecting to it, or connected. A transport whose link has ended has lost
    /// it.
    func take(_ path: String, isConnected: Bool) -> BoardHold? {
        let id: Int? = state.withLock { state in
            guard state.isFree(path, isConnected) else { return nil }
            state.nextID += 1
            state.entries[path] = Entry(id: state.nextID)
            return state.nextID
        }
        return id.map { BoardHold(self, path, $0) }
    }

    func isFree(_ path: String, isConnected: Bool) -> Bool { state.withLock { $0.isFree(path, isConnected) } }

    fileprivate func connected(_ path: String, _ id: Int) {
        state.withLock { if $0.entries[path]?.id == id { $0.entries[path]?.isConnecting = false } }
    }

    fileprivate func isCurrent(_ path: String, _ id: Int) -> Bool { state.withLock { $0.entries[path]?.id == id } }

    fileprivate func release(_ path: String, _ id: Int) {
        let wasHeld = state.withLock { state in
            guard state.entries[path]?.id == id else { return false }
            state.entries[path] = nil
            return true
        }
        if wasHeld { freed(path) }
    }
}

extension ConnectionOwnership.State {
    fileprivate func isFree(_ path: String, _ isConnected: Bool) -> Bool {
        guard let entry = entries[path] else { return true }
        return !entry.isConnecting && !isConnected
    }
}

/// The right of one transport to use a board, until it is released or this object is dropped.
final class BoardHold: Sendable {
    private let holds: ConnectionOwnership
    private let path: String
    private let id: Int

    fileprivate init(_ holds: ConnectionOwnership, _ path: String, _ id: Int) {
        self.holds = holds
        self.path = path
        self.id = id
    }

    deinit { release() }

    /// From now on the right lasts as long as the link.
    func connected() { holds.connected(path, id) }

    /// Whether no other transport took the board after the link had ended.
    var isCurrent: Bool { holds.isCurrent(path, id) }

    func release() { holds.release(path, id) }
}
