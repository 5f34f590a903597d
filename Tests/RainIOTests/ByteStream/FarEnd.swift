// SPDX-License-Identifier: Apache-2.0
import Glibc
import RainIO
import Synchronization
import TestSupport

/// The other end of a stream under test.
protocol FarEnd: Sendable {
    func send(_ bytes: [UInt8]) async
    /// Waits for at least one byte.
    func receive() async -> [UInt8]
    func unplug()
}

extension PseudoTerminal: FarEnd {}

/// A connected socket that never blocks a thread of the pool.
final class SocketEnd: FarEnd {
    private let descriptor: Mutex<Int32>

    init(_ descriptor: Int32) {
        _ = fcntl(descriptor, F_SETFL, O_NONBLOCK)
        self.descriptor = Mutex(descriptor)
    }

    deinit { unplug() }

    func send(_ bytes: [UInt8]) async {
        var rest = bytes[...]
        while !rest.isEmpty, !Task.isCancelled {
            let count = descriptor.withLock { descriptor in
                rest.withUnsafeBytes { Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
            }
            if count > 0 { rest = rest.dropFirst(count) } else if errno != EAGAIN { return }
            if count < 0 { await pause() }
        }
    }

    func receive() async -> [UInt8] {
        var buffer = [UInt8](repeating: 0, count: 65536)
        while !Task.isCancelled {
            let count = descriptor.withLock { recv($0, &buffer, buffer.count, 0) }
            if count >= 0 { return Array(buffer[..<count]) }
            if errno != EAGAIN { return [] }
            await pause()
        }
        return []
    }

    /// Sends no more, and goes on reading.
    func endSending() { descriptor.withLock { _ = shutdown($0, Int32(SHUT_WR)) } }

    /// Breaks the connection, which the other side sees as an error.
    func reset() {
        descriptor.withLock { descriptor in
            var linger = linger(l_onoff: 1, l_linger: 0)
            setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &linger, socklen_t(MemoryLayout<linger>.size))
        }
        unplug()
    }

    func unplug() {
        descriptor.withLock {
            if $0 >= 0 { close($0) }
            $0 = -1
        }
    }

    private func pause() async { try? await Task.sleep(for: .milliseconds(1)) }
}
