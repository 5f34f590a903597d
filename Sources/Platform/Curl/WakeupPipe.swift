// SPDX-License-Identifier: Apache-2.0
import CRainCurl
import Glibc
import RainIO

/// Wakes a thread that sleeps, in libcurl or on this alone.
///
/// `curl_multi_wakeup` does so too, with four system calls instead of two, and must not be called once the handle may be gone;
/// this can be rung as long as anyone has it.
final class WakeupPipe: Sendable {
    private let descriptor = eventfd(0, Int32(EFD_CLOEXEC | EFD_NONBLOCK))

    deinit { if works { close(descriptor) } }

    var works: Bool { descriptor >= 0 }

    func ring() {
        var one: UInt64 = 1
        _ = write(descriptor, &one, MemoryLayout<UInt64>.size)
    }

    /// Sleeps until a transfer can go on, it is rung, or the time is over.
    func poll(_ multi: UnsafeMutableRawPointer, milliseconds: Int32) {
        var waiting = curl_waitfd(fd: descriptor, events: Int16(CURL_WAIT_POLLIN), revents: 0)
        guard curl.pointee.multi_poll(multi, &waiting, 1, milliseconds, nil) == CURLM_OK, waiting.revents != 0 else {
            return
        }
        silence()
    }

    /// Sleeps until it is rung; false if it cannot.
    func wait() -> Bool {
        guard pollDescriptor(descriptor, for: .readable) else { return false }
        silence()
        return true
    }

    private func silence() {
        var rings: UInt64 = 0
        _ = read(descriptor, &rings, MemoryLayout<UInt64>.size)
    }
}
