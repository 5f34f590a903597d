// SPDX-License-Identifier: Apache-2.0

/// Sends one HTTP request and gives back the whole response.
///
/// Implementations follow no redirect, send only the headers they were given (plus `Host` and the body's length), and never
/// send a request twice: the caller decides about retries. The one exception is a GET on a pooled connection which the
/// server had closed meanwhile. Cancelling the calling task ends the transfer at once with
/// ``HTTPError/Code-swift.struct/cancelled``. Every response status is a response, not an error.
public protocol HTTPClient: Sendable {
    /// Sends the request once and waits for the whole response, as long as the request's deadline allows.
    func send(_ request: HTTPRequest) async throws(HTTPError) -> HTTPResponse

    /// Closes the connection that requests with ``HTTPRequest/Connection/kept(_:)`` of that name left open, if there is one.
    /// A server that has one socket only is thereby free for the next client.
    func close(kept name: String) async
}

extension HTTPClient {
    /// Nothing to do for a client that keeps no connections.
    public func close(kept name: String) async {}
}

/// One HTTP request, complete with the bounds it must keep to.
public struct HTTPRequest: Sendable {
    /// The methods that are used.
    public enum Method: String, Sendable { case get = "GET", post = "POST", put = "PUT", delete = "DELETE" }

    /// Which connection carries the request.
    public enum Connection: Sendable, Hashable {
        /// Whatever connection is open to that server, or a new one.
        case pooled
        /// A connection of its own, closed afterwards.
        case fresh
        /// The one connection of that name: opened by the first request and kept for the next. Once the peer has closed it
        /// the next request opens another, but no request is ever sent again on it.
        case kept(String)
    }

    /// What the server is to do.
    public var method: Method
    /// An absolute `http` or `https` URL.
    public var url: String
    /// In the order of sending.
    public var headers: [HTTPHeader]
    /// Empty for none.
    public var body: [UInt8]
    /// The time that the whole exchange may take, connecting included.
    public var deadline: Duration
    /// The largest body that is accepted; a longer one is ``HTTPError/Code-swift.struct/tooLarge``.
    public var maximumResponseBytes: Int
    /// Which connection carries the request.
    public var connection: Connection
    /// Is told how much of the body has been sent, in bytes, from time to time and at its end. Called on the client's own thread: quick.
    public var uploadProgress: (@Sendable (_ sentBytes: Int) -> Void)?

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

/// One header line. A value may be a secret, so headers are never logged.
public struct HTTPHeader: Sendable, Equatable {
    /// Compared without regard to ASCII case.
    public var name: String
    /// Without line breaks; may be a secret.
    public var value: String
    public init(_ name: String, _ value: String) {
        self.name = name
        self.value = value
    }
}

/// What came back: any status, with its headers in order and its whole body.
public struct HTTPResponse: Sendable {
    /// The status code, such as 200.
    public var status: Int
    /// In the order in which they came.
    public var headers: [HTTPHeader]
    /// Complete, never longer than the request allows.
    public var body: [UInt8]

    public init(status: Int, headers: [HTTPHeader] = [], body: [UInt8] = []) {
        self.status = status
        self.headers = headers
        self.body = body
    }

    /// The first header of that name, which is compared without regard to ASCII case.
    public func header(_ name: String) -> String? {
        headers.first { $0.name.lowercased() == name.lowercased() }?.value
    }
}

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
