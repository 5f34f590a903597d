// SPDX-License-Identifier: Apache-2.0

/// What a request is for, in the forms that `http_parser` knows: `/path`, `*`, `http://host/path`, and `host:port` for CONNECT.
struct HTTPTarget: Equatable {
    let bytes: [UInt8]
    /// More bytes, or none, can make it a target.
    let isPossible: Bool
    let isComplete: Bool
    /// By which the server finds its handler: without query and fragment, and without scheme and host. Nil where there is none.
    let path: [UInt8]?

    init(_ bytes: [UInt8], isConnect: Bool = false) {
        self.bytes = bytes
        let isPath = !isConnect && [UInt8(ascii: "/"), UInt8(ascii: "*")].contains(bytes.first)
        let scheme = isConnect || isPath ? [] : bytes.prefix(while: Self.isLetter)
        let afterScheme = isConnect || isPath ? bytes[...] : bytes.dropFirst(scheme.count)
        let separator = Array((isConnect || isPath ? "" : "://").utf8)
        let afterSeparator = afterScheme.dropFirst(separator.count)
        let host = isPath ? [] : afterSeparator.prefix { $0 != UInt8(ascii: "/") && $0 != UInt8(ascii: "?") }
        let rest = isPath ? bytes[...] : afterSeparator.dropFirst(host.count)
        let hasScheme = isConnect || isPath || !scheme.isEmpty && afterScheme.starts(with: separator)
        isPossible =
            (hasScheme || bytes.isEmpty || !scheme.isEmpty && separator.starts(with: afterScheme))
            && host.allSatisfy(Self.isHostByte) && rest.allSatisfy { (0x21...0x7E).contains($0) }
        isComplete = isPossible && hasScheme && !bytes.isEmpty && (isPath || !host.isEmpty)
        let path = rest.prefix { $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#") }
        self.path = path.isEmpty ? nil : Array(path)
    }

    private static func isLetter(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
    }

    /// Letters, digits and what may stand in a user's name, an address or a port.
    private static func isHostByte(_ byte: UInt8) -> Bool {
        isLetter(byte) || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
            || "-_.!~*'()%;:&=+$,[]@".utf8.contains(byte)
    }
}
