// SPDX-License-Identifier: Apache-2.0
import Glibc

/// Standard output and standard error: whole lines, each in as few writes as the system allows.
enum StandardStreams {
    static func out(_ text: String) { write(Array(text.utf8), to: STDOUT_FILENO) }
    static func err(_ text: String) { write(Array(text.utf8), to: STDERR_FILENO) }
    /// Bytes as they are.
    static func out(_ bytes: [UInt8]) { write(bytes, to: STDOUT_FILENO) }

    /// Erases the line of the terminal in which the cursor stands.
    static let eraseLine = "\r\u{1B}[2K"

    static var errIsTerminal: Bool { isatty(STDERR_FILENO) == 1 }
    static var inIsTerminal: Bool { isatty(STDIN_FILENO) == 1 }

    private static func write(_ bytes: [UInt8], to descriptor: Int32) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if count < 0 {
                guard errno == EINTR else { return }
                continue
            }
            rest = rest.dropFirst(count)
        }
    }
}
