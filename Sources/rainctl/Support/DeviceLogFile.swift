// SPDX-License-Identifier: Apache-2.0
import Glibc
import Synchronization

/// What a board prints on its cable, a line with its time for each, in a file that only its owner reads.
final class DeviceLogFile: Sendable {
    private let descriptor: Int32
    private let path: String
    private let turn = Mutex(())

    /// Throws `cannot_write`.
    init(_ path: String) throws(CommandFailure) {
        descriptor = try PrivateLogFile.open(path)
        self.path = path
    }

    func write(_ line: String) {
        let text = Array("\(Timestamp.text(Timestamp.now())) \(line.onOneLine)\n".utf8)
        let failure = turn.withLock { _ in StandardStreams.write(text, to: descriptor) }
        if let failure { PrivateLogFile.failed(failure, at: path) }
    }

    deinit { Glibc.close(descriptor) }
}
