// SPDX-License-Identifier: Apache-2.0
import Glibc

/// Whether a host is this machine or, given as an address, in a private or link-local network (RFC 1918, 3927, 4193, 4291).
/// A proxy cannot reach such an address.
package func isNearby(_ host: String) -> Bool {
    let name = host.lowercased()
    if name == "localhost" || name == "localhost." || name.hasSuffix(".localhost") || name.hasSuffix(".local") {
        return true
    }
    var four = in_addr()
    if inet_pton(AF_INET, host, &four) == 1 {
        return isNearby(UInt32(bigEndian: four.s_addr))
    }
    var text = host
    if text.hasPrefix("["), text.hasSuffix("]") { text = String(text.dropFirst().dropLast()) }
    if let zone = text.firstIndex(of: "%") { text = String(text[..<zone]) }
    var six = in6_addr()
    guard inet_pton(AF_INET6, text, &six) == 1 else { return false }
    let bytes = withUnsafeBytes(of: six) { Array($0) }
    if bytes[..<10].allSatisfy({ $0 == 0 }), bytes[10] == 0xFF, bytes[11] == 0xFF {
        return isNearby(bytes[12...].reduce(0) { $0 << 8 | UInt32($1) })
    }
    let isLoopback = bytes[..<15].allSatisfy { $0 == 0 } && bytes[15] == 1
    let isLinkLocal = bytes[0] == 0xFE && bytes[1] & 0xC0 == 0x80
    let isPrivate = bytes[0] & 0xFE == 0xFC
    return isLoopback || isLinkLocal || isPrivate
}

private func isNearby(_ address: UInt32) -> Bool {
    address >> 24 == 127 || address >> 24 == 10 || address >> 20 == 0xAC1 || address >> 16 == 0xC0A8
        || address >> 16 == 0xA9FE
}
