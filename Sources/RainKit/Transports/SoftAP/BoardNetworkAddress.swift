// SPDX-License-Identifier: Apache-2.0
import Glibc
import RainIO

/// Whether this machine has an address in the network that boards open, 192.168.4.0/24 (ESP-IDF, `esp_netif_defaults.h`).
enum BoardNetworkAddress {
    static var isHere: Bool {
        var first: UnsafeMutablePointer<ifaddrs>?
        guard getifaddrs(&first) == 0 else { return false }
        defer { freeifaddrs(first) }
        var next = first
        while let entry = next {
            next = entry.pointee.ifa_next
            guard let address = entry.pointee.ifa_addr, address.pointee.sa_family == sa_family_t(AF_INET) else {
                continue
            }
            let number = address.withMemoryRebound(to: sockaddr_in.self, capacity: 1) {
                UInt32(bigEndian: $0.pointee.sin_addr.s_addr)
            }
            if number >> 8 == 0xC0A804 { return true }
        }
        return false
    }

    /// Returns once there is one. Throws when it is cancelled.
    static func appearance() async throws {
        while !isHere { try await Task.sleep(for: .milliseconds(250)) }
    }
}
