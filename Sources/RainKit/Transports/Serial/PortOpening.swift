// SPDX-License-Identifier: Apache-2.0
import ESPProvisioning
import RainIO

/// Opens serial ports, and waits where waiting helps: for a board that is about to be plugged in, for one that leaves the bus and comes
/// back, for udev to give the user rights to a new port, and for ModemManager to let go of one.
struct PortOpening: Sendable {
    /// A port, and what it was when it was opened, by which it is found again.
    struct OpenPort: Sendable {
        var port: SerialPort
        var description: SerialPortDescription
    }

    /// udev's rules are applied to a new port within this time.
    static let timeForRules = Duration.seconds(2)
    /// ModemManager looks at a port for no longer.
    static let timeForModemManager = Duration.seconds(40)
    /// A chip that restarts is back on the bus within this time: a second on a loaded machine.
    static let timeToComeBack = Duration.seconds(5)

    let files: SystemFiles
    let timer: any Clock<Duration>
    /// Until when a port that is not there may be plugged in; nil where that is an error.
    var waitsUntil: ContinuousClock.Instant?

    /// Throws `unavailable` with the reasons `no_port`, `port_denied` and `not_a_port`; `busy` with the programs that hold the port.
    func open(
        _ path: String, heard: @escaping @Sendable ([UInt8]) -> Void
    ) async throws(ProvisioningError) -> OpenPort {
        let began = ContinuousClock.now
        var hasBeenAway = false
        var pause = Duration.milliseconds(20)
        while true {
            let failure: ProvisioningError
            let patience: ContinuousClock.Instant?
            do throws(SerialPortError) {
                let port = try SerialPort.open(path, heard: heard)
                let description = SerialPort.description(of: path, in: files)
                return OpenPort(port: port, description: description ?? SerialPortDescription(path: path))
            } catch {
                switch error.code {
                case .notFound:
                    (failure, patience) = (ProvisioningError(error), waitsUntil)
                    hasBeenAway = true
                case .denied:
                    (failure, patience) = (ProvisioningError(error), hasBeenAway ? began + Self.timeForRules : nil)
                case .busy:
                    let holders = SerialPort.holders(of: path, in: files)
                    let isTransient = holders.contains(where: \.isModemManager)
                    (failure, patience) = (.busy(error, holders), isTransient ? began + Self.timeForModemManager : nil)
                default: throw ProvisioningError(error)
                }
            }
            guard let patience, ContinuousClock.now < patience else { throw failure }
            try await sleep(&pause)
        }
    }

    /// The port that a board has now whose port went away; nil if it does not come back.
    func reopen(
        _ port: SerialPortDescription, heard: @escaping @Sendable ([UInt8]) -> Void
    ) async throws(ProvisioningError) -> OpenPort? {
        let end = ContinuousClock.now + Self.timeToComeBack
        var pause = Duration.milliseconds(20)
        while ContinuousClock.now < end {
            if let next = SerialPort.successor(of: port, in: files),
                let open = try? SerialPort.open(next.path, heard: heard)
            {
                return OpenPort(port: open, description: next)
            }
            try await sleep(&pause)
        }
        return nil
    }

    /// The ports that look like a board's, once there is one or the time is over.
    func likely(
        _ ports: @Sendable () -> [SerialPortDescription]
    ) async throws(ProvisioningError) -> [SerialPortDescription] {
        var pause = Duration.milliseconds(20)
        while true {
            let found = ports()
            guard found.isEmpty, let waitsUntil, ContinuousClock.now < waitsUntil else { return found }
            try await sleep(&pause)
        }
    }

    func isProbedForModem(_ path: String) -> Bool { SerialPort.isProbedForModem(path, in: files) }

    private func sleep(_ pause: inout Duration) async throws(ProvisioningError) {
        do {
            try await timer.sleep(for: pause)
        } catch {
            throw ProvisioningError(.cancelled, message: "The operation was cancelled.")
        }
        pause = min(pause * 2, .milliseconds(250))
    }
}
