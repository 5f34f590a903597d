// SPDX-License-Identifier: Apache-2.0
import CRainDescriptors
import Glibc

/// Wakes a thread that polls descriptors, from any other.
package final class WakePipe: Sendable {
    /// Readable from ``ring()`` on, until ``drain()``: to be polled beside what is waited for.
    package let reader: Int32
    private let writer: Int32

    /// Nil where the system gives no pipe, and says why in `errno`.
    package init?() {
        var ends: [Int32] = [-1, -1]
        guard pipe2(&ends, O_CLOEXEC | O_NONBLOCK) == 0 else { return nil }
        (reader, writer) = (ends[0], ends[1])
    }

    // The thread that rings and the one that polls both hold the pipe, so it is not closed under either.
    deinit {
        close(reader)
        close(writer)
    }

    package func ring() {
        var byte: UInt8 = 1
        // A full pipe rings as well as another byte in it.
        _ = write(writer, &byte, 1)
    }

    package func drain() {
        var bytes = [UInt8](repeating: 0, count: 256)
        while read(reader, &bytes, bytes.count) == bytes.count {}
    }
}
