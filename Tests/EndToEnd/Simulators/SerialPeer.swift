// SPDX-License-Identifier: Apache-2.0
import RainCore
import Glibc
import TestSupport

/// A client's end of the board's console: it sends and receives raw bytes.
final class SerialPeer {
    private let descriptor: Int32
    private(set) var received: [UInt8] = []

    struct Failure: Error, CustomStringConvertible { var description: String }

    init(_ path: String) throws {
        descriptor = open(path, O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC)
        guard descriptor >= 0 else { throw Failure(description: "\(path): \(systemErrorText(errno))") }
    }

    deinit { close(descriptor) }

    func send(_ text: String) {
        let bytes = Array(text.utf8)
        _ = write(descriptor, bytes, bytes.count)
    }

    /// Reads until `text` has come. Returns what came up to there, and forgets it.
    @discardableResult
    func read(until text: String) async throws -> String {
        let wanted = Array(text.utf8)
        let end = ContinuousClock.now + .waitLimit
        while true {
            if let range = received.firstRange(of: wanted) {
                defer { received.removeSubrange(..<range.upperBound) }
                return String(decoding: received[..<range.upperBound], as: UTF8.self)
            }
            guard ContinuousClock.now < end else {
                throw Failure(description: "no \"\(text)\" came: \(String(decoding: received, as: UTF8.self))")
            }
            var buffer = [UInt8](repeating: 0, count: 4096)
            let count = Glibc.read(descriptor, &buffer, buffer.count)
            if count > 0 { received += buffer[..<count] } else { try await Task.sleep(for: .milliseconds(2)) }
        }
    }

    /// Types a line and returns all that comes until the next prompt.
    func exchange(_ line: String) async throws -> String {
        send(line + "\r")
        return try await read(until: "\n>> ")
    }
}
