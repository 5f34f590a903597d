// SPDX-License-Identifier: Apache-2.0
import CRainKit
import Glibc
import Synchronization

/// The clients and operations of this process. A handle is a number and never an address, so one that was freed, or that never existed, is
/// detected instead of being used. Numbers are not used again.
enum Handles {
    private struct State {
        var last: UInt = 0
        var clients: [UInt: Client] = [:]
        var operations: [UInt: Operation] = [:]
    }

    private static let state = Mutex(State())

    static func add(_ client: Client) -> OpaquePointer? {
        state.withLock { state in
            state.last += 1
            state.clients[state.last] = client
            return OpaquePointer(bitPattern: state.last)
        }
    }

    static func add(_ operation: Operation) -> OpaquePointer? {
        state.withLock { state in
            state.last += 1
            state.operations[state.last] = operation
            return OpaquePointer(bitPattern: state.last)
        }
    }

    static func client(_ handle: OpaquePointer?) throws(CallError) -> Client {
        try Process.check()
        guard let client = state.withLock({ $0.clients[UInt(bitPattern: handle)] }) else { throw .usage }
        return client
    }

    static func operation(_ handle: OpaquePointer?) throws(CallError) -> Operation {
        try Process.check()
        guard let operation = state.withLock({ $0.operations[UInt(bitPattern: handle)] }) else { throw .usage }
        return operation
    }

    /// Removes a client, which its operations may still hold.
    static func removeClient(_ handle: OpaquePointer?) throws(CallError) -> Client {
        try Process.check()
        guard let client = state.withLock({ $0.clients.removeValue(forKey: UInt(bitPattern: handle)) }) else {
            throw .usage
        }
        return client
    }

    static func removeOperation(_ handle: OpaquePointer?) throws(CallError) -> Operation {
        try Process.check()
        guard let operation = state.withLock({ $0.operations.removeValue(forKey: UInt(bitPattern: handle)) }) else {
            throw .usage
        }
        return operation
    }
}

/// Why a call is refused before it does anything: the number that the function returns.
struct CallError: Error {
    let code: Int32

    /// A NULL pointer, a handle that was freed, a size or a string that cannot be right.
    static let usage = CallError(code: Int32(RAINKIT_USAGE))
    /// A buffer that is too small.
    static let badData = CallError(code: Int32(RAINKIT_BAD_DATA))
    /// No session is known.
    static let auth = CallError(code: Int32(RAINKIT_AUTH))
    /// The process was forked after it had used the library.
    static let unavailable = CallError(code: Int32(RAINKIT_UNAVAILABLE))
    /// Another thread freed the operation during the call.
    static let cancelled = CallError(code: Int32(RAINKIT_CANCELLED))
    /// The system has no more descriptors or threads.
    static let temporary = CallError(code: Int32(RAINKIT_TEMPORARY))

    /// Runs a function's body, and returns its number.
    static func number(_ body: () throws(CallError) -> Void) -> Int32 {
        do throws(CallError) {
            try body()
            return 0
        } catch {
            return error.code
        }
    }
}

/// Detects a fork. A child has the library's locks in any state and none of its threads, so each of its calls is refused.
enum Process {
    private static let isChild = Atomic(false)
    private static let isWatched: Bool = {
        pthread_atfork(nil, nil) { Process.isChild.store(true, ordering: .relaxed) } == 0
    }()

    static func check() throws(CallError) {
        _ = isWatched
        if isChild.load(ordering: .relaxed) { throw .unavailable }
    }
}
