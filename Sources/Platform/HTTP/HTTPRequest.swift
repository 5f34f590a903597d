// SPDX-License-Identifier: Apache-2.0

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
