// SPDX-License-Identifier: Apache-2.0
import Glibc

/// Why the simulator could not start, in one sentence.
struct StartError: Error {
    var message: String
    init(_ message: String) { self.message = message }
}

/// Writes a line to standard output at once, whatever that is connected to.
func printLine(_ line: [UInt8]) {
    let line = line + [0x0A]
    _ = line.withUnsafeBytes { write(STDOUT_FILENO, $0.baseAddress, $0.count) }
}
