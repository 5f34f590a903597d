// SPDX-License-Identifier: Apache-2.0
import RainHTTP

/// Headers and body as far as they have come.
struct ReceivedResponse {
    /// All header lines of one exchange together, interim responses included. Servers commonly send less than 8 KiB.
    static let maximumHeaderBytes = 64 << 10

    private(set) var headers: [HTTPHeader] = []
    private(set) var headerBytes = 0
    /// Whether the empty line that ends the headers has come: libcurl takes a connection that closes before as an empty body.
    private(set) var headersAreComplete = false
    var body: [UInt8] = []

    /// Takes one header line as libcurl gives it, with its line end; returns false once there are too many bytes of them.
    mutating func add(header line: UnsafeBufferPointer<UInt8>) -> Bool {
        headerBytes += line.count
        guard headerBytes <= Self.maximumHeaderBytes else { return false }
        var text = line[...]
        while let last = text.last, last == 0x0D || last == 0x0A || last == 0x20 || last == 0x09 { text.removeLast() }
        headersAreComplete = text.isEmpty || !body.isEmpty
        if text.starts(with: "HTTP/".utf8), !text.contains(UInt8(ascii: ":")) || headers.isEmpty {
            headers = []  // a status line: what stood before belonged to an interim response
        } else if let colon = text.firstIndex(of: UInt8(ascii: ":")), body.isEmpty {
            let value = text[(colon + 1)...].drop { $0 == 0x20 || $0 == 0x09 }
            headers.append(
                HTTPHeader(String(decoding: text[..<colon], as: UTF8.self), String(decoding: value, as: UTF8.self)))
        }
        return true
    }
}
