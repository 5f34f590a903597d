// SPDX-License-Identifier: Apache-2.0
import Glibc

/// An IPv4 or IPv6 address with a port, as the system's calls take it.
struct SocketAddress: Sendable {
    let family: Int32
    private let bytes: [UInt8]

    /// Runs `call` with the address; an example is `connect(2)`.
    func with<Result>(_ call: (UnsafePointer<sockaddr>, socklen_t) -> Result) -> Result {
        bytes.withUnsafeBytes { buffer in
            call(buffer.baseAddress!.assumingMemoryBound(to: sockaddr.self), socklen_t(buffer.count))
        }
    }

    /// Asks the system's resolver, which blocks for a name and not for an address in figures.
    ///
    /// - Parameter onlyFigures: takes `192.168.4.1` and `fe80::1%eth0`, and no name.
    static func resolve(_ host: String, port: UInt16, onlyFigures: Bool) -> Result<[SocketAddress], LookupFailure> {
        var hints = addrinfo()
        hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        hints.ai_flags = AI_NUMERICSERV | (onlyFigures ? AI_NUMERICHOST : AI_ADDRCONFIG)
        var list: UnsafeMutablePointer<addrinfo>?
        let code = getaddrinfo(host, String(port), &hints, &list)
        guard code == 0 else { return .failure(LookupFailure(code: code)) }
        defer { freeaddrinfo(list) }
        var addresses: [SocketAddress] = []
        var next = list
        while let entry = next?.pointee {
            if let address = entry.ai_addr {
                let bytes = UnsafeRawBufferPointer(start: address, count: Int(entry.ai_addrlen))
                addresses.append(SocketAddress(family: entry.ai_family, bytes: Array(bytes)))
            }
            next = entry.ai_next
        }
        return .success(addresses)
    }
}

/// Why a name has no address: an error of `getaddrinfo(3)`.
struct LookupFailure: Error {
    let code: Int32
    var text: String { String(cString: gai_strerror(code)) }
}
