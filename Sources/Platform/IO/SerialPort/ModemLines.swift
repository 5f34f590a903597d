// SPDX-License-Identifier: Apache-2.0

/// What the lines DTR and RTS of a port do, one step after the other.
///
/// Boards have them at the chip's boot pin and its reset: both or none asserted does nothing, RTS alone holds the chip in reset, DTR alone
/// is the BOOT button (esptool's documentation, "Boot Mode Selection"). The C3's own USB reads them likewise.
public struct ModemLines: Sendable, Equatable {
    /// Both lines at once, and how long they stay so.
    public struct Step: Sendable, Equatable {
        /// DTR: asserted alone, the BOOT button.
        public var dataTerminalReady: Bool
        /// RTS: asserted alone, reset.
        public var requestToSend: Bool
        /// How long the lines stay so before the next step.
        public var pause: Duration

        public init(dataTerminalReady: Bool, requestToSend: Bool, pause: Duration) {
            self.dataTerminalReady = dataTerminalReady
            self.requestToSend = requestToSend
            self.pause = pause
        }
    }

    /// In order.
    public var steps: [Step]

    public init(_ steps: [Step]) { self.steps = steps }

    /// Restarts the application, as esptool's `HardReset` does: DTR is let go before RTS is pulsed, or the chip would wait for firmware.
    public static let restart = ModemLines([
        Step(dataTerminalReady: false, requestToSend: true, pause: .milliseconds(100)),
        Step(dataTerminalReady: false, requestToSend: false, pause: .zero),
    ])

    /// The same for the chip's own USB (303a:1001), which goes away and comes back meanwhile.
    public static let restartOverUSB = ModemLines([
        Step(dataTerminalReady: false, requestToSend: true, pause: .milliseconds(200)),
        Step(dataTerminalReady: false, requestToSend: false, pause: .milliseconds(200)),
    ])
}

extension SerialPort {
    /// Moves the lines. They are never moved otherwise.
    ///
    /// Throws `failed` where the port has none, as a pty, and `closed`.
    ///
    /// - Parameter sleep: waits between the steps.
    public func move(
        _ lines: ModemLines, sleep: @Sendable (Duration) async throws -> Void
    ) async throws(SerialPortError) {
        for step in lines.steps {
            try setLines(dataTerminalReady: step.dataTerminalReady, requestToSend: step.requestToSend)
            guard step.pause > .zero else { continue }
            do {
                try await sleep(step.pause)
            } catch {
                // A chip that is held in reset would stay there.
                try setLines(dataTerminalReady: false, requestToSend: false)
                throw SerialPortError(.cancelled, path: path, message: "The operation was cancelled.")
            }
        }
    }
}
