// SPDX-License-Identifier: Apache-2.0

/// Why a subscription could not be made, or has ended.
public struct MQTTError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The kind of failure, for programs that act on it. Its description is the name used here, such as `refused`.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        private enum Value: String {
            case unreachable, untrusted, refused, notAllowed, lost, timedOut, malformed, cancelled
        }
        private let value: Value
        public var description: String { value.rawValue }

        /// No connection could be made.
        public static let unreachable = Code(value: .unreachable)
        /// The server's certificate is not trusted, or no secure channel came about.
        public static let untrusted = Code(value: .untrusted)
        /// The server does not let this client in: its credentials are wrong, or are not good any longer.
        public static let refused = Code(value: .refused)
        /// The client may not subscribe to this topic.
        public static let notAllowed = Code(value: .notAllowed)
        /// The connection ended.
        public static let lost = Code(value: .lost)
        /// The server did not answer in time.
        public static let timedOut = Code(value: .timedOut)
        /// What came is not WebSocket or not MQTT, or is larger than is accepted.
        public static let malformed = Code(value: .malformed)
        /// The calling task was cancelled.
        public static let cancelled = Code(value: .cancelled)
    }

    /// What went wrong.
    public var code: Code
    /// What went wrong, for a person. It names no credentials and no address but the host's.
    public var message: String

    public init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    public var description: String { "\(code): \(message)" }
}
