// SPDX-License-Identifier: Apache-2.0
import Glibc
import RainIO
import TestSupport
import Testing

@Suite("Who else may open a port")
struct ExclusionTests {
    /// TIOCGEXCL, which Glibc's module map does not carry.
    private static let isExclusive: UInt = 0x8004_5440

    @Test("a pty bears no mark that would outlive a killed process: the lock, which dies with it, keeps others out")
    func pseudoTerminal() async throws {
        let terminal = try PseudoTerminal()
        let port = try SerialPort.open(terminal.path)
        let descriptor = open(terminal.path, O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC)
        #expect(descriptor >= 0)
        defer { close(descriptor) }
        var mark: Int32 = -1
        #expect(ioctl(descriptor, Self.isExclusive, &mark) == 0)
        #expect(mark == 0)
        #expect(flock(descriptor, LOCK_EX | LOCK_NB) == -1)
        await port.close()
        #expect(flock(descriptor, LOCK_EX | LOCK_NB) == 0)
    }
}
