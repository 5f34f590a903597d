// SPDX-License-Identifier: Apache-2.0

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
