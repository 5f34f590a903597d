// SPDX-License-Identifier: Apache-2.0
import RainIO

extension ProvisioningError {
    /// What a fault of the port means for the board behind it.
    init(_ error: SerialPortError, hasAnswered: Bool) {
        let code: Code =
            switch error.code {
            case .busy: .busy
            case .cancelled, .closed: .cancelled
            case .lost where hasAnswered: .deviceLost
            default: .unavailable
            }
        self.init(code, message: error.message, cause: error.description)
    }
}
