// SPDX-License-Identifier: Apache-2.0
import Glibc
import Testing

/// The socket at which systemd hears its services. A path that begins with "@" is in the abstract namespace.
public final class DatagramSocket: Sendable {
    private let file: Int32

    public init(_ path: String) throws {
        file = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_NONBLOCK.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        var name = Array(path.utf8)
        if name[0] == UInt8(ascii: "@") { name[0] = 0 }
        try #require(name.count < 108)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: name) }
        let length = socklen_t(MemoryLayout<sockaddr_un>.offset(of: \.sun_path)! + name.count)
        let bound = withUnsafePointer(to: address) { address in
            address.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(file, $0, length) }
        }
        try #require(bound == 0)
    }

    deinit { close(file) }

    /// Returns the next datagram, which has already arrived; an empty text if no datagram has.
    public func received() -> String {
        var bytes = [UInt8](repeating: 0, count: 4096)
        let count = recv(file, &bytes, bytes.count, 0)
        return String(decoding: bytes.prefix(max(0, count)), as: UTF8.self)
    }

    /// Reads datagrams until `text` arrives. Throws if it does not come in time.
    public func wait(for text: String, within limit: Duration = .waitLimit) async throws {
        let end = ContinuousClock.now + limit
        var others: [String] = []
        while ContinuousClock.now < end {
            let datagram = received()
            if datagram == text { return }
            if datagram.isEmpty {
                try await Task.sleep(for: .milliseconds(10))
            } else {
                others.append(datagram)
            }
        }
        Issue.record("\(text) did not arrive, but \(others.suffix(10))")
    }
}
