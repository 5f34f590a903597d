// SPDX-License-Identifier: Apache-2.0
import Glibc

/// A client's end of the board's console: raw bytes, and a deadline on each wait.
final class SerialPeer {
    private let descriptor: Int32
    private(set) var received: [UInt8] = []

    struct Failure: Error, CustomStringConvertible { var description: String }

    init(_ path: String) throws {
        descriptor = open(path, O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC)
        guard descriptor >= 0 else { throw Failure(description: "\(path): \(String(cString: strerror(errno)))") }
    }

    deinit { close(descriptor) }

    func send(_ text: String) {
        let bytes = Array(text.utf8)
        _ = write(descriptor, bytes, bytes.count)
    }

    /// Reads until `text` has come; returns what came up to there, and forgets it.
    @discardableResult
    func read(until text: String, within seconds: Int = 10) throws -> String {
        let wanted = Array(text.utf8)
        let end = time(nil) + seconds
        while true {
            if let range = received.firstRange(of: wanted) {
                defer { received.removeSubrange(..<range.upperBound) }
                return String(decoding: received[..<range.upperBound], as: UTF8.self)
            }
            guard time(nil) <= end else {
                throw Failure(
                    description: "no \"\(text)\" within \(seconds) s: \(String(decoding: received, as: UTF8.self))")
            }
            var state = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            poll(&state, 1, 200)
            var buffer = [UInt8](repeating: 0, count: 4096)
            let count = Glibc.read(descriptor, &buffer, buffer.count)
            if count > 0 { received += buffer[..<count] }
        }
    }

    /// Types a line and returns all that comes until the next prompt.
    func exchange(_ line: String) throws -> String {
        send(line + "\r")
        return try read(until: "\n>> ")
    }
}
