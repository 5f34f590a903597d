// SPDX-License-Identifier: Apache-2.0
import Glibc
import RainCore

/// The D-Bus session bus, as far as it can be known without connecting.
enum SessionBus {
    /// Makes sure that there is one to connect to: GLib would start a daemon of its own where there is none, and each process another.
    static func find(in environment: [String: String]) throws(AccountError) {
        if let address = environment["DBUS_SESSION_BUS_ADDRESS"], !address.isEmpty {
            let transports = address.split(separator: ";").map { $0.prefix { $0 != ":" } }
            guard transports.allSatisfy({ $0 == "unix" || $0 == "tcp" }) else {
                throw absent("DBUS_SESSION_BUS_ADDRESS would have a D-Bus daemon started")
            }
            return
        }
        // What GLib looks at next, and at nothing after it that is not started first.
        var status = stat()
        guard let folder = environment["XDG_RUNTIME_DIR"], folder.hasPrefix("/"),
            stat("\(folder)/bus", &status) == 0, status.st_mode & S_IFMT == S_IFSOCK, status.st_uid == geteuid()
        else { throw absent("this process has no D-Bus session bus") }
    }

    static func absent(_ cause: String) -> AccountError {
        AccountError(
            .storeAbsent,
            message: "there is no Secret Service: \(cause); use it from a desktop session", remedies: [.fileStore])
    }
}
