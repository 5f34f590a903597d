// SPDX-License-Identifier: Apache-2.0
import RainDBus

/// Why an adapter cannot play the board: one sentence with the remedy.
struct AdapterRefusal: Error, Equatable, CustomStringConvertible {
    enum Reason: Equatable {
        case noBus, noService, noAdapter, noRights, blocked, cannotAdvertise, nameTooLong, refused, silent
    }

    var reason: Reason
    var description: String

    init(_ reason: Reason, _ description: String) {
        self.reason = reason
        self.description = description
    }

    /// Why the connection to the bus itself failed.
    init(connecting error: DBusError) {
        switch error.code {
        case .accessDenied:
            self.init(.noRights, "the system's D-Bus does not let this user in: \(error.message)")
        default:
            self.init(
                .noBus,
                "there is no system D-Bus, which Bluetooth needs (\(error.message)): start it, or name it with DBUS_SYSTEM_BUS_ADDRESS"
            )
        }
    }

    /// What the Bluetooth service, or the bus in its place, answered to a call.
    init(_ call: AdapterCall, _ error: DBusError, choice: AdapterChoice) {
        switch error.name {
        case "org.freedesktop.DBus.Error.ServiceUnknown", "org.freedesktop.DBus.Error.NameHasNoOwner":
            self = .noService
        case let name?
        where name.hasPrefix("org.freedesktop.DBus.Error.Spawn") || name.hasPrefix("org.freedesktop.systemd1."):
            self = .noService
        case "org.freedesktop.DBus.Error.AccessDenied", "org.bluez.Error.NotPermitted", "org.bluez.Error.NotAuthorized":
            self.init(
                .noRights,
                "this user may not use Bluetooth (\(error.message)): run as root, or join the group \"bluetooth\"")
        case "org.bluez.Error.Blocked":
            self.init(.blocked, "the radio of \(choice) is blocked: rfkill unblock bluetooth")
        case "org.freedesktop.DBus.Error.UnknownObject":
            self.init(.noAdapter, "the adapter \(choice) is gone: plug it in again")
        default:
            if error.code == .timeout {
                self.init(.silent, "the Bluetooth service does not answer: systemctl restart bluetooth")
            } else {
                self.init(.refused, "the Bluetooth service refuses \(call.summary) on \(choice): \(error)")
            }
        }
    }

    static let noService = AdapterRefusal(
        .noService, "the Bluetooth service does not run: systemctl start bluetooth (package bluez)")

    init(noAdapter choice: AdapterChoice, among adapters: [AdapterTree.Adapter]) {
        let there = adapters.map { "\($0.path.split(separator: "/").last ?? "") \($0.address)" }
        self.init(
            .noAdapter,
            there.isEmpty
                ? "this machine has no Bluetooth adapter"
                : "there is no adapter \(choice): there is \(there.joined(separator: ", "))")
    }
}

extension AdapterCall {
    /// In the words of an error message.
    var summary: String {
        switch self {
        case .listObjects: "to list its objects"
        case .powerOn: "to switch the radio on"
        case .rename: "the name"
        case .registerApplication: "the board's characteristics"
        case .registerAdvertisement: "the board's advertisement"
        case .unregisterApplication, .unregisterAdvertisement: "to end serving"
        case .disconnect: "to end the link"
        }
    }
}
