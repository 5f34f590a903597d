// SPDX-License-Identifier: Apache-2.0

/// Names of the errors that the bus and its services have in common (D-Bus specification; the reference implementation's
/// dbus-protocol.h).
public enum DBusErrorName {
    /// The bus's policy, or the service itself, does not allow this caller to do that.
    public static let accessDenied = "org.freedesktop.DBus.Error.AccessDenied"
    /// The method does not take arguments of these types or values.
    public static let invalidArguments = "org.freedesktop.DBus.Error.InvalidArgs"
    /// No connection owns that name now.
    public static let nameHasNoOwner = "org.freedesktop.DBus.Error.NameHasNoOwner"
    /// A service gave up waiting for its own answer.
    public static let noReply = "org.freedesktop.DBus.Error.NoReply"
    /// No connection owns that name, and the bus can start no service that would.
    public static let serviceUnknown = "org.freedesktop.DBus.Error.ServiceUnknown"
    /// The bus lost the connection that the call went to.
    public static let disconnected = "org.freedesktop.DBus.Error.Disconnected"
    /// What names begin with that say that the bus could not start a service (`Spawn.ChildExited`, `Spawn.Failed`, …).
    public static let spawn = "org.freedesktop.DBus.Error.Spawn."
    /// The object has no such method.
    public static let unknownMethod = "org.freedesktop.DBus.Error.UnknownMethod"
    /// The service has no object at that path.
    public static let unknownObject = "org.freedesktop.DBus.Error.UnknownObject"

    /// Whether a call failed because the service was not there, or left before it answered: so it is while a service that crashed is being
    /// started again.
    public static func isAbsence(_ name: String?) -> Bool {
        guard let name else { return false }
        return [serviceUnknown, nameHasNoOwner, noReply, disconnected].contains(name) || name.hasPrefix(spawn)
    }
}
