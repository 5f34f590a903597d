// SPDX-License-Identifier: Apache-2.0

/// Messages that the broker must acknowledge: those that wait, and those on their way.
///
/// Its size is bounded by the number of topics, because a newer message replaces one for the same topic that still waits. A value without
/// input and output.
package struct MosquittoOutbox {
    /// A message that the broker acknowledges.
    package struct Message: Sendable, Equatable {
        package var topic: String
        package var payload: [UInt8]
        package var isRetained: Bool

        package init(topic: String, payload: [UInt8], isRetained: Bool) {
            (self.topic, self.payload, self.isRetained) = (topic, payload, isRetained)
        }
    }

    /// How many messages may be on their way: the limit that libmosquitto has as well, and most brokers.
    package static let maximumSent = 20

    /// The topics in the order of their messages. Those whose number is not the latest one were replaced.
    private var order: [(topic: String, number: Int)] = []
    /// The place of the next one in ``order``.
    private var next = 0
    private var latest: [String: (number: Int, message: Message)] = [:]
    private var count = 0
    /// The topics of the messages on their way, by their packet identifiers.
    private var sent: [Int32: String] = [:]
    /// The topic of the message that the library is taking. Its packet identifier is not known yet.
    private var current: String?
    /// Acknowledgements that have arrived meanwhile.
    private var early: [Int32: Int32] = [:]

    package init() {}

    /// The number of messages that wait.
    package var waiting: Int { latest.count }

    /// Adds a message behind the others. It replaces one for the same topic that still waits.
    package mutating func add(_ message: Message) {
        count += 1
        latest[message.topic] = (count, message)
        order.append((message.topic, count))
        // Replaced messages leave their places behind.
        guard next > 1024 || order.count - next > 2 * latest.count + 64 else { return }
        order = order[next...].filter { latest[$0.topic]?.number == $0.number }
        next = 0
    }

    /// Returns the next message to send; nil if none waits, if enough are on their way, or while the library is taking one. Call
    /// ``sent(_:)`` or ``failed()`` afterwards.
    package mutating func take() -> Message? {
        guard current == nil, sent.count < Self.maximumSent else { return nil }
        while next < order.count {
            let (topic, number) = order[next]
            next += 1
            guard let found = latest[topic], found.number == number else { continue }
            latest[topic] = nil
            current = topic
            return found.message
        }
        (order, next) = ([], 0)
        return nil
    }

    /// The library has taken the message.
    ///
    /// - Returns: the topic and the code of an acknowledgement that has arrived already.
    package mutating func sent(_ identifier: Int32) -> (topic: String, code: Int32)? {
        defer { (current, early) = (nil, [:]) }
        guard let current else { return nil }
        if let code = early[identifier] { return (current, code) }
        sent[identifier] = current
        return nil
    }

    /// The library has not taken the message.
    package mutating func failed() { (current, early) = (nil, [:]) }

    /// The broker has acknowledged a message.
    ///
    /// - Returns: its topic; nil for a message that needs no acknowledgement, or one that the library is taking.
    package mutating func acknowledged(_ identifier: Int32, _ code: Int32) -> String? {
        if let topic = sent.removeValue(forKey: identifier) { return topic }
        if current != nil { early[identifier] = code }
        return nil
    }
}
