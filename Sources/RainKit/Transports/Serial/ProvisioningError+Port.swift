// SPDX-License-Identifier: Apache-2.0
import ESPProvisioning
import RainCore
import RainIO

extension ProvisioningError {
    init(_ error: SerialPortError) {
        let (code, reason): (Code, String?) =
            switch error.code {
            case .busy: (.busy, nil)
            case .lost: (.deviceLost, "port_gone")
            case .cancelled, .closed: (.cancelled, nil)
            case .notFound: (.unavailable, "no_port")
            case .denied: (.unavailable, "port_denied")
            case .notATerminal: (.unavailable, "not_a_port")
            default: (.unavailable, nil)
            }
        self.init(code, message: error.message, cause: error.description, reason: reason)
    }

    /// Names the programs that have the port open, where this user can see them.
    static func busy(_ error: SerialPortError, _ holders: [PortHolder]) -> ProvisioningError {
        var told = ProvisioningError(error)
        if holders.contains(where: \.isModemManager) {
            told.message =
                "ModemManager holds \(error.path): it tries whether the board is a modem, for half a minute after it was plugged in. Try "
                + "again then; a udev rule with ENV{ID_MM_DEVICE_IGNORE}=\"1\" keeps it away for good."
        } else if holders.isEmpty {
            told.message =
                "Another program holds this port. Close its serial monitor and try again; `sudo fuser -v \(ShellWord.quoted(error.path))` shows which it is."
        } else {
            let names = holders.prefix(3).map { "\($0.name) (process \($0.processID))" }.joined(separator: ", ")
            told.message = "Another program holds this port: \(names). Close it and try again."
        }
        return told
    }
}
