// SPDX-License-Identifier: Apache-2.0
import Glibc

/// A TCP connection to the loopback that sends what the test wants, and reads with a deadline.
final class RawConnection {
    private let descriptor: Int32
    /// Whether the peer ended it by a reset.
    private(set) var wasReset = false

    /// - Parameter patience: how long to wait for a byte, in milliseconds.
    init(port: UInt16, patience: Int = 120_000) throws {
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        let connected = withUnsafePointer(to: &address) { address in
            address.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        var limit = timeval(tv_sec: patience / 1000, tv_usec: patience % 1000 * 1000)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        guard connected == 0 else { throw RawConnectionError(errno: errno) }
    }

    deinit { close(descriptor) }

    func send(_ text: String) { send(Array(text.utf8)) }

    /// It does not fail if the peer closes in the middle of it.
    func send(_ bytes: [UInt8]) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
            guard count > 0 else { return }
            rest = rest.dropFirst(count)
        }
    }

    /// Ends our direction only.
    func endSending() { shutdown(descriptor, Int32(SHUT_WR)) }

    /// Everything up to the end of the stream; nil if it does not end in time.
    func readToEnd() -> String? {
        var bytes: [UInt8] = []
        while true {
            let part = read(atMost: 4096)
            guard let part else { return nil }
            guard !part.isEmpty else { return String(decoding: bytes, as: UTF8.self) }
            bytes += part
        }
    }

    /// What has arrived, at least a byte; empty at the end of the stream, nil if nothing comes in time.
    func read(atMost count: Int) -> [UInt8]? {
        var buffer = [UInt8](repeating: 0, count: count)
        let received = recv(descriptor, &buffer, count, 0)
        if received < 0 {
            wasReset = errno == ECONNRESET
            return wasReset ? [] : nil
        }
        return Array(buffer.prefix(received))
    }
}

struct RawConnectionError: Error { var errno: Int32 }
