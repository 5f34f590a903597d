// SPDX-License-Identifier: Apache-2.0

/// Why a byte stream could not be opened, or does not go on.
public struct ByteStreamError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The kind of failure, for programs that act on it. Its description is the name used here, such as `timedOut`.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        private enum Value: String {
            case notFound, refused, unreachable, untrusted, timedOut, ended, lost, closed, cancelled, failed
        }
        private let value: Value
        public var description: String { value.rawValue }

        /// On opening: the host's name has no address.
        public static let notFound = Code(value: .notFound)
        /// On opening: the host is there, and nothing listens at that port.
        public static let refused = Code(value: .refused)
        /// On opening: there is no route to the host.
        public static let unreachable = Code(value: .unreachable)
        /// On opening: the server's certificate is not trusted, or no secure channel came about.
        public static let untrusted = Code(value: .untrusted)
        /// The time was over: on opening, or before a write was taken.
        public static let timedOut = Code(value: .timedOut)
        /// On reading: the other side sends no more, and everything that it had sent was read.
        public static let ended = Code(value: .ended)
        /// The connection broke.
        public static let lost = Code(value: .lost)
        /// This side closed the stream.
        public static let closed = Code(value: .closed)
        /// The task was cancelled, or another reader has taken the place of this one.
        public static let cancelled = Code(value: .cancelled)
        /// The system refused for another reason, which the message names.
        public static let failed = Code(value: .failed)
    }

    /// The kind of failure; ``message`` describes it for people.
    public var code: Code
    /// Who is at the other end: `host:port`, or a path.
    public var peer: String
    /// What happened and what to try.
    public var message: String
    /// The system's error number, where there was one.
    public var systemError: Int32?

    public init(_ code: Code, peer: String, message: String, systemError: Int32? = nil) {
        self.code = code
        self.peer = peer
        self.message = message
        self.systemError = systemError
    }

    public var description: String { "\(code): \(message) (\(peer))" }
}
