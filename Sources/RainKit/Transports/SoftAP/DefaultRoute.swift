// SPDX-License-Identifier: Apache-2.0
import Glibc

/// Whether this machine has a way to the internet, or to whatever is beyond its own networks (`/proc/net`, proc(5)).
enum DefaultRoute {
    static var exists: Bool {
        // Destination and gateway; the kernel's own columns.
        let four = rows("/proc/net/route").contains { $0.count > 1 && $0[1] == "00000000" }
        // Every machine has one over the loopback that leads nowhere.
        return four || rows("/proc/net/ipv6_route").contains { $0.count == 10 && $0[1] == "00" && $0[9] != "lo" }
    }

    /// The words of each line, of as many lines as a table of routes in good faith has.
    private static func rows(_ path: String) -> [[Substring]] {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return [] }
        defer { close(descriptor) }
        var text: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 1 << 14)
        while text.count < 1 << 20 {
            let count = read(descriptor, &piece, piece.count)
            guard count > 0 else { break }
            text += piece[..<count]
        }
        return String(decoding: text, as: UTF8.self).split(separator: "\n").map {
            $0.split { $0 == " " || $0 == "\t" }
        }
    }
}
