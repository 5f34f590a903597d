// SPDX-License-Identifier: Apache-2.0
import Glibc
import Synchronization

/// What a board prints on its cable, a line with its time for each, in a file that only its owner reads.
final class DeviceLogFile: Sendable {
    private let descriptor: Int32
    private let turn = Mutex(())

    /// Throws `cannot_write`.
    init(_ path: String) throws(CommandFailure) { descriptor = try PrivateLogFile.open(path) }

    func write(_ line: String) {
        let text = Array("\(Timestamp.text(Timestamp.now())) \(line.onOneLine)\n".utf8)
        turn.withLock { _ in
            _ = text.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
        }
    }

    deinit { Glibc.close(descriptor) }
}
