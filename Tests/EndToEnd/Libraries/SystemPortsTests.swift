// SPDX-License-Identifier: Apache-2.0
import Glibc
import RainIO
import TestSupport
import Testing

@Suite("What the system knows of a serial port")
struct SystemPortsTests {
    @Test("the programs that have a port open are named")
    func holders() async throws {
        let pty = try PseudoTerminal()
        let child = try await ChildProcess.start("/bin/sh", ["-c", "exec 3<>\(pty.path); echo ready; sleep 60"])
        defer { child.kill() }
        _ = try await child.readyLine()
        let holders = SerialPort.holders(of: pty.path)
        // The far end is this process's own.
        #expect(holders.contains { $0.name == "sh" }, "\(holders)")
        #expect(!holders.contains { $0.processID == getpid() })
    }
}
