// SPDX-License-Identifier: Apache-2.0

/// Sends an HTTP request and returns the whole response.
///
/// Implementations follow no redirects and send only the given headers (plus `Host` and the body's length). They never send a request
/// twice: the caller decides about retries. The one exception is a GET on a pooled connection that the server had closed meanwhile.
/// Cancelling the calling task ends the transfer at once with ``HTTPError/Code-swift.struct/cancelled``. Every response status is a
/// response, not an error.
public protocol HTTPClient: Sendable {
    /// Sends the request once and waits for the whole response until the request's deadline.
    func send(_ request: HTTPRequest) async throws(HTTPError) -> HTTPResponse

    /// Closes the connection that requests with ``HTTPRequest/Connection/kept(_:)`` of that name left open, if there is one. A server with
    /// only one socket is then free for the next client.
    func close(kept name: String) async
}

extension HTTPClient {
    /// Does nothing, for clients that keep no connections.
    public func close(kept name: String) async {}
}

/// One HTTP request with its limits.
public struct HTTPRequest: Sendable {
    /// The supported methods.
    public enum Method: String, Sendable {
        /// The method with the name that HTTP has for it.
        case get = "GET", post = "POST", put = "PUT", patch = "PATCH", delete = "DELETE"
    }

    /// The connection for the request.
    public enum Connection: Sendable, Hashable {
        /// Any open connection to that server, or a new one.
        case pooled
        /// A new connection, which is closed afterwards.
        case fresh
        /// The one connection of that name. The first request opens it, and it is kept for the next ones. After the peer has closed it, the
        /// next request opens another one, but no request is ever sent again on it.
        case kept(String)
    }

    /// The request method.
    public var method: Method
    /// An absolute `http` or `https` URL.
    public var url: String
    /// The headers in the order of sending.
    public var headers: [HTTPHeader]
    /// The body; empty for a request without one.
    public var body: [UInt8]
    /// The maximum duration of the whole exchange, including connecting.
    public var deadline: Duration
    /// The largest body that is accepted, in bytes. A longer one is ``HTTPError/Code-swift.struct/tooLarge``.
    public var maximumResponseBytes: Int
    /// The connection for the request.
    public var connection: Connection
    /// Called with the number of body bytes sent so far, from time to time and at the end. It runs on the client's own thread, so it has to
    /// be quick.
    public var uploadProgress: (@Sendable (_ sentBytes: Int) -> Void)?
    /// Whether the request changes something of the user's. If its answer is lost, sending it again may do so twice.
    package var isChange = false

    public init(
        method: Method, url: String, headers: [HTTPHeader] = [], body: [UInt8] = [], deadline: Duration = .seconds(10),
        maximumResponseBytes: Int = 1 << 20, connection: Connection = .pooled
    ) {
        self.method = method
        self.url = url
        self.headers = headers
        self.body = body
        self.deadline = deadline
        self.maximumResponseBytes = maximumResponseBytes
        self.connection = connection
    }
}

/// One header line. A value may be a secret, so only headers that are known to hold none are logged.
public struct HTTPHeader: Sendable, Equatable {
    /// The name, compared without regard to ASCII case.
    public var name: String
    /// The value, without line breaks. It may be a secret.
    public var value: String
    public init(_ name: String, _ value: String) {
        self.name = name
        self.value = value
    }
}

/// An HTTP response of any status: its headers in order and its whole body.
public struct HTTPResponse: Sendable {
    /// The status code, such as 200.
    public var status: Int
    /// The headers in the order of arrival.
    public var headers: [HTTPHeader]
    /// The complete body, never longer than the request allows.
    public var body: [UInt8]
    /// How often the request was sent: 2 if the server had closed the pooled connection of a GET.
    package var attempts = 1

    public init(status: Int, headers: [HTTPHeader] = [], body: [UInt8] = []) {
        self.status = status
        self.headers = headers
        self.body = body
    }

    /// Returns the first header of that name, which is compared without regard to ASCII case.
    public func header(_ name: String) -> String? {
        headers.first { $0.name.lowercased() == name.lowercased() }?.value
    }
}

/// Why an exchange gave no response. The message names the host, never headers or bodies.
public struct HTTPError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The kind of failure.
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
        /// The peer's certificate is not trusted, or the TLS handshake failed.
        public static let tls = Code(value: .tls)
        /// The response is larger than the request allows.
        public static let tooLarge = Code(value: .tooLarge)
        /// The answer is not HTTP.
        public static let malformed = Code(value: .malformed)
        /// The calling task was cancelled.
        public static let cancelled = Code(value: .cancelled)
        /// The proxy cannot be reached, broke the connection, or cannot reach the host. A retry may succeed.
        public static let proxy = Code(value: .proxy)
        /// The proxy refuses this request, or is not a proxy. The proxy setting has to change.
        public static let proxyRefused = Code(value: .proxyRefused)
        /// The request itself cannot be sent, for example because of a bad URL or a header with a line break.
        public static let invalidRequest = Code(value: .invalidRequest)
    }

    /// The kind of failure.
    public var code: Code
    /// `host` or `host:port`.
    public var host: String
    /// The failure for people: the end of a sentence such as "HOST cannot be reached: …".
    public var message: String
    /// Whether the response had begun to arrive: at least its status line.
    public var receivedBytes: Bool
    /// Whether the connection was ready, and the request was being sent or was sent. The server may have acted on it.
    package var wasSent = false
    /// Whether the connection broke during sending or receiving, as by a reset (RFC 9293, 3.5.2), and was not closed in order. A server
    /// that had read the whole request closes in order.
    public var isReset = false
    /// The proxy that did not answer before the time was over or the request was cancelled: its place and the variable that names it. Nil
    /// if the wait was not for a proxy.
    package var silentProxy: String?
    /// Whether the time was over, or the request was cancelled, when the server had accepted the connection and sent nothing to begin TLS.
    package var lacksTLS = false

    /// Whether the host answered that nothing listens on the port (`unreachable`).
    package var isRefused = false

    public init(_ code: Code, host: String, message: String, receivedBytes: Bool = false) {
        self.code = code
        self.host = host
        self.message = message
        self.receivedBytes = receivedBytes
    }

    public var description: String { "\(code) at \(host): \(message)" }
}
