// SPDX-License-Identifier: Apache-2.0
import Glibc
import RainCore

/// What GLib and the service say when a call fails, in our words.
struct ServiceError: Error {
    var error: AccountError
    /// The service has forgotten us, as after its restart: a new session with it may mend that.
    var isSessionLost = false
    /// We ended the call ourselves; the caller was told why by then.
    var isCancelled = false

    init(_ error: AccountError) { self.error = error }

    /// Takes the error over and frees it.
    init(_ failure: LibSecret.Object?, _ library: LibSecret, doing what: String) {
        guard let failure else {
            error = AccountError(.cannotStore, message: "the Secret Service could not \(what)")
            return
        }
        defer { library.freeError(failure) }
        let given = failure.load(as: LibSecret.GError.self)
        let domain = library.quarkName(given.domain).map { String(cString: $0) } ?? ""
        let message = given.message.map { String(cString: $0) } ?? "no reason given"
        var remote = ""
        if let name = library.remoteError(failure) {
            remote = String(cString: name)
            library.free(name)
        }
        isCancelled = domain == "g-io-error-quark" && given.code == 19
        isSessionLost = Self.sessionLost.contains(remote)
        switch remote {
        case "org.freedesktop.Secret.Error.IsLocked":
            error = Self.locked
        case "org.freedesktop.DBus.Error.NoReply", "org.freedesktop.DBus.Error.TimedOut",
            "org.freedesktop.DBus.Error.Timeout":
            error = Self.notAnswering(message)
        case "org.freedesktop.DBus.Error.ServiceUnknown", "org.freedesktop.DBus.Error.NameHasNoOwner",
            "org.freedesktop.DBus.Error.Disconnected":
            error = SessionBus.absent("nobody on the session bus is one")
        case let name where name.hasPrefix("org.freedesktop.DBus.Error.Spawn."):
            error = SessionBus.absent("it could not be started")
        default:
            if domain == "secret-error", given.code == 2 {
                error = Self.locked
            } else if domain == "g-io-error-quark", given.code == 24 {
                error = Self.notAnswering(message)
            } else if domain == "g-io-error-quark", remote.isEmpty {
                error = SessionBus.absent("the session bus cannot be reached (\(message))")
            } else {
                error = AccountError(.cannotStore, message: "the Secret Service could not \(what): \(message)")
            }
        }
    }

    /// What a service that was restarted answers, or the bus in the place of the one that ended.
    private static let sessionLost: Set = [
        "org.freedesktop.Secret.Error.NoSession", "org.freedesktop.DBus.Error.UnknownMethod",
        "org.freedesktop.DBus.Error.UnknownObject", "org.freedesktop.DBus.Error.ServiceUnknown",
        "org.freedesktop.DBus.Error.NameHasNoOwner",
    ]

    static let locked = AccountError(
        .storeLocked,
        message: """
            the keyring of the Secret Service is locked; unlock it (sign in to the desktop, or open Passwords and Keys)
            """,
        remedies: [.fileStore])

    static let noKeyring = AccountError(
        .storeLocked,
        message: """
            the Secret Service has no default keyring to unlock; make one (sign in to the desktop, or open Passwords and \
            Keys)
            """,
        remedies: [.fileStore])

    static func notAnswering(_ detail: String) -> AccountError {
        AccountError(
            .storeNotAnswering,
            message: """
                the Secret Service does not answer (\(detail)); restart it (gnome-keyring-daemon --replace, or your \
                desktop's)
                """,
            remedies: [.fileStore])
    }
}
