// SPDX-License-Identifier: Apache-2.0
import RainCore
import Glibc

/// A client's socket without any manners of its own: bytes out, bytes in, and a deadline on each wait.
public final class RawHTTPPeer {
    private let descriptor: Int32

    public enum Ending: Sendable { case open, closed }

    public struct Failure: Error, CustomStringConvertible { public let description: String }

    /// - Parameter address: `host:port` with an IPv4 host.
    public init(_ address: String) throws {
        let parts = address.split(separator: ":")
        var target = sockaddr_in()
        target.sin_family = sa_family_t(AF_INET)
        target.sin_port = UInt16(parts[1])!.bigEndian
        inet_pton(AF_INET, String(parts[0]), &target.sin_addr)
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        let failed = withUnsafePointer(to: &target) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) != 0
            }
        }
        if failed { throw Failure(description: "\(address): \(systemErrorText(errno))") }
    }

    deinit { close(descriptor) }

    /// How many TCP segments with data have come: `tcpi_data_segs_in` of the kernel's `tcp_info`, of which Glibc's module knows the head.
    public var receivedSegments: UInt32 {
        var (info, length) = ([UInt32](repeating: 0, count: 64), socklen_t(256))
        guard getsockopt(descriptor, Int32(IPPROTO_TCP), 11, &info, &length) == 0, length >= 156 else { return 0 }
        return info[152 / 4]
    }

    public func send(_ bytes: [UInt8]) { _ = Glibc.send(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL)) }
    public func send(_ text: String) { send(Array(text.utf8)) }

    /// Nothing more comes from this end, though it still reads.
    public func endSending() { shutdown(descriptor, Int32(SHUT_WR)) }

    public func post(_ path: String, _ body: [UInt8], headers: String = "") {
        send(Array("POST /\(path) HTTP/1.1\r\nContent-Length: \(body.count)\r\n\(headers)\r\n".utf8) + body)
    }

    public typealias Response = (text: String, body: [UInt8], ending: Ending)

    /// Waits for one response with its body. Returns what has come if the connection ends, or if nothing comes for `seconds`.
    ///
    /// It blocks: call it where the response is already there, and ``nextResponse()`` elsewhere.
    public func response(within seconds: Double = 5) -> Response {
        Self.response { [descriptor] in Self.receive(from: descriptor, within: seconds) }
    }

    /// Waits for one response with its body. Returns what has come if the connection ends.
    public func nextResponse() async -> Response {
        await onOwnThread { [descriptor] in
            Self.response { Self.receive(from: descriptor, within: Self.waitLimit) }
        }
    }

    private static let waitLimit = Double(Duration.waitLimit.components.seconds)

    private static func response(receive: () -> [UInt8]?) -> Response {
        var bytes: [UInt8] = []
        while true {
            if let end = bytes.firstRange(of: Array("\r\n\r\n".utf8)) {
                let head = String(decoding: bytes[..<end.upperBound], as: UTF8.self)
                let length = head.split(separator: "\r\n").first { $0.hasPrefix("Content-Length: ") }
                    .flatMap { Int($0.dropFirst("Content-Length: ".count)) }
                if let length, bytes.count - end.upperBound >= length {
                    return (head, Array(bytes[end.upperBound...]), .open)
                }
            }
            guard let more = receive() else {
                return (String(decoding: bytes, as: UTF8.self), [], .open)
            }
            if more.isEmpty { return (String(decoding: bytes, as: UTF8.self), [], .closed) }
            bytes += more
        }
    }

    /// Returns what comes next: nothing for an end (by FIN or by RST), nil if nothing came in time. It blocks, see ``response(within:)``.
    public func receive(within seconds: Double) -> [UInt8]? { Self.receive(from: descriptor, within: seconds) }

    /// Returns what comes next: nothing for an end (by FIN or by RST), nil if nothing came in time.
    public func nextBytes(within seconds: Double? = nil) async -> [UInt8]? {
        await onOwnThread { [descriptor] in Self.receive(from: descriptor, within: seconds ?? Self.waitLimit) }
    }

    private static func receive(from descriptor: Int32, within seconds: Double) -> [UInt8]? {
        var state = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        var ready: Int32
        repeat { ready = poll(&state, 1, Int32(seconds * 1000)) } while ready < 0 && errno == EINTR
        guard ready == 1 else { return nil }
        var buffer = [UInt8](repeating: 0, count: 8192)
        var count: Int
        repeat { count = recv(descriptor, &buffer, buffer.count, 0) } while count < 0 && errno == EINTR
        return count > 0 ? Array(buffer[..<count]) : []
    }
}
