// SPDX-License-Identifier: Apache-2.0

/// The incoming calls that were not answered yet, each with what its answer is made from. Their number is bounded: the oldest is dropped
/// first.
struct UnansweredCalls<Call> {
    private struct Caller: Hashable {
        var sender: String?
        var serial: UInt64

        init(_ message: DBusMessage) {
            sender = message.sender
            serial = message.serial
        }
    }

    private let limit: Int
    private var calls: [Caller: Call] = [:]
    /// The oldest first. Some of these calls may have been answered meanwhile.
    private var callers: [Caller] = []

    init(limit: Int = DBusLimits.unanswered) { self.limit = limit }

    /// - Returns: what is dropped in its place: an earlier call of the same number, or, beyond the limit, the oldest call, which is
    ///   unlikely to be answered after so long.
    mutating func keep(_ call: Call, of message: DBusMessage) -> Call? {
        let caller = Caller(message)
        if let earlier = calls.updateValue(call, forKey: caller) { return earlier }
        callers.append(caller)
        guard calls.count > limit else { return nil }
        let oldest = callers.first { calls[$0] != nil }.flatMap { calls.removeValue(forKey: $0) }
        callers.removeAll { calls[$0] == nil }
        return oldest
    }

    /// What the answer to a call is made from; nil where it was answered, wants no answer, or was dropped.
    mutating func take(_ message: DBusMessage) -> Call? {
        let caller = Caller(message)
        guard let call = calls.removeValue(forKey: caller) else { return nil }
        if callers.first == caller {
            callers.removeFirst()
        } else if callers.count > 2 * calls.count + 16 {
            callers.removeAll { calls[$0] == nil }
        }
        return call
    }

    mutating func takeAll() -> [Call] {
        defer { (calls, callers) = ([:], []) }
        return Array(calls.values)
    }
}
