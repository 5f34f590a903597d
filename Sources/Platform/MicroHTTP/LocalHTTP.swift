// SPDX-License-Identifier: Apache-2.0

/// A request without its body.
package struct LocalRequest: Sendable, Equatable {
    package var method: String
    /// The path, decoded, without the query.
    package var path: String
    /// The query's value of `token`; nil if it has none.
    package var token: String?
    /// The headers in the order of their arrival, with lower-case names.
    package var headers: [(name: String, value: String)]

    package init(method: String, path: String, token: String? = nil, headers: [(name: String, value: String)] = []) {
        self.method = method
        self.path = path
        self.token = token
        self.headers = headers
    }

    /// Returns all values of a header.
    package func values(_ name: String) -> [String] { headers.filter { $0.name == name }.map(\.value) }

    package static func == (left: LocalRequest, right: LocalRequest) -> Bool {
        (left.method, left.path, left.token) == (right.method, right.path, right.token)
            && left.headers.elementsEqual(right.headers) { $0 == $1 }
    }
}

/// An answer.
package struct LocalResponse: Sendable {
    package var status: Int
    package var headers: [(name: String, value: String)]
    package var body: [UInt8]
    /// Sends more after the headers, until it is finished. Then ``body`` is not sent.
    package var stream: LocalStream?

    package init(
        _ status: Int, headers: [(name: String, value: String)] = [], body: [UInt8] = [], stream: LocalStream? = nil
    ) {
        self.status = status
        self.headers = headers
        self.body = body
        self.stream = stream
    }
}

/// Decides about requests, and answers them.
package protocol LocalService: Sendable {
    /// Decides by the head of a request whether its body is read.
    func admit(_ request: LocalRequest) -> LocalAdmission
    /// Answers a request that was admitted. It is called in a task of its own.
    func respond(to request: LocalRequest, body: [UInt8]) async -> LocalResponse
}

/// Whether a request goes on.
package enum LocalAdmission: Sendable {
    /// The request is answered with this, and its body is not read.
    case refused(LocalResponse)
    /// The request is answered once its body has arrived, of at most so many bytes.
    case accepted(maximumBody: Int)
}

/// Why a server could not start.
package enum LocalServerError: Error, Sendable, Equatable {
    /// libmicrohttpd is not installed.
    case libraryMissing
    /// The text is not an IP address with a port.
    case invalidAddress
    /// The address could not be used; the system's error number.
    case cannotListen(Int32)
    /// The library did not start.
    case failed
}
