// SPDX-License-Identifier: Apache-2.0
import Glibc
import Synchronization

/// The lines of a terminal for as long as it is open: afterwards its descriptor's number may belong to something else.
final class OpenTerminal: Sendable {
    private let path: String
    private let descriptor: Mutex<Int32?>

    init(_ terminal: Terminal) {
        path = terminal.path
        descriptor = Mutex(terminal.descriptor)
    }

    func forget() { descriptor.withLock { $0 = nil } }

    func set(dataTerminalReady: Bool, requestToSend: Bool) throws(SerialPortError) {
        let failure = descriptor.withLock { descriptor -> SerialPortError? in
            guard let descriptor else {
                return SerialPortError(.closed, path: path, message: "The port was closed.")
            }
            var bits = (dataTerminalReady ? TIOCM_DTR : 0) | (requestToSend ? TIOCM_RTS : 0)
            guard ioctl(descriptor, UInt(TIOCMSET), &bits) != 0 else { return nil }
            return SerialPortError(
                .failed, path: path, message: "The port does not move its lines DTR and RTS: \(errorText(errno)).")
        }
        if let failure { throw failure }
    }
}
