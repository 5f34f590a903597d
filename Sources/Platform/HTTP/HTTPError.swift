// SPDX-License-Identifier: Apache-2.0

/// Why an exchange gave no response. The message names the host, never headers or bodies.
public struct HTTPError: Error, Sendable, Equatable, CustomStringConvertible {
    /// What went wrong.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        private enum Value: String {
            case unresolved, unreachable, closed, timeout, tls, tooLarge, malformed, cancelled, invalidRequest, proxy
            case proxyRefused
        }
        private let value: Value
        public var description: String { value.rawValue }

        /// The host's name did not resolve.
        public static let unresolved = Code(value: .unresolved)
        /// No connection could be made.
        public static let unreachable = Code(value: .unreachable)
        /// The peer closed or reset the connection before the response was complete.
        public static let closed = Code(value: .closed)
        /// The deadline passed.
        public static let timeout = Code(value: .timeout)
        /// The peer's certificate is not trusted, or no secure channel came about.
        public static let tls = Code(value: .tls)
        /// The response is larger than the request allows.
        public static let tooLarge = Code(value: .tooLarge)
        /// What came is not HTTP.
        public static let malformed = Code(value: .malformed)
        /// The calling task was cancelled.
        public static let cancelled = Code(value: .cancelled)
        /// The proxy cannot be reached, broke the connection, or cannot reach the host. Trying again may work.
        public static let proxy = Code(value: .proxy)
        /// The proxy does not serve this request, or is not one. Another setting is needed.
        public static let proxyRefused = Code(value: .proxyRefused)
        /// The request itself cannot be sent: a bad URL, a header with a line break.
        public static let invalidRequest = Code(value: .invalidRequest)
    }

    /// What went wrong.
    public var code: Code
    /// `host` or `host:port`.
    public var host: String
    /// What went wrong, for a person: the end of a sentence such as "HOST cannot be reached: …".
    public var message: String
    /// Whether the response had begun to arrive: at least its status line.
    public var receivedBytes: Bool
    /// Whether the connection broke while something was sent or received, as by a reset (RFC 9293, 3.5.2), and was not closed in order. A
    /// server that had read the whole request closes in order.
    public var isReset = false
    /// What was waited for when the time was over or the request was cancelled, if that is a proxy: its place and the variable that names it.
    package var silentProxy: String?

    public init(_ code: Code, host: String, message: String, receivedBytes: Bool = false) {
        self.code = code
        self.host = host
        self.message = message
        self.receivedBytes = receivedBytes
    }

    public var description: String { "\(code) at \(host): \(message)" }
}
