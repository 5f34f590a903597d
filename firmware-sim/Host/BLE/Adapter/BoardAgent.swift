// SPDX-License-Identifier: Apache-2.0
import RainDBus

/// The agent of a board on a real adapter that demands encryption: it agrees to whoever pairs with the board, as a board does that has
/// neither keys nor a display (Just Works). It stays out of what else the machine pairs with.
enum BoardAgent {
    static let path = "/rainkit/agent"
    private static let interface = "org.bluez.Agent1"

    /// What is asked of the Bluetooth service once the board is on the air; a service that refuses leaves the board without encryption.
    static var registration: [DBusCall] {
        [
            DBusCall(
                AdapterCall.service, "/org/bluez", "org.bluez.AgentManager1", "RegisterAgent",
                [.objectPath(path), .string("NoInputNoOutput")]),
            DBusCall(
                AdapterCall.service, "/org/bluez", "org.bluez.AgentManager1", "RequestDefaultAgent",
                [.objectPath(path)]),
        ]
    }

    static func isAsked(_ call: DBusMessage) -> Bool { call.path == path && call.interface == interface }

    /// - Parameter adapter: the board's, as an object path.
    static func agrees(to call: DBusMessage, at adapter: String?) -> Bool {
        switch call.member {
        case "Release", "Cancel": return true
        case "RequestConfirmation", "RequestAuthorization", "AuthorizeService":
            guard let adapter, let device = call.arguments.first?.text else { return false }
            return device.hasPrefix(adapter + "/dev_")
        default: return false
        }
    }
}
