// SPDX-License-Identifier: Apache-2.0

/// What a device is connected by now.
public struct NetworkConnection: Sendable, Hashable {
    /// How far it has come.
    public enum State: Sendable, Hashable { case activating, activated, ending }

    /// The active connection's object; it exists no longer than the connection.
    public var path: String
    /// The profile's own name, which outlives a restart of NetworkManager.
    public var uuid: String
    /// What people call the profile, most often the network's name.
    public var id: String
    /// How far it has come.
    public var state: State
    /// The access point's object; nil where there is none.
    var accessPoint: String?

    init?(path: String, _ properties: DBusValue) {
        guard let uuid = properties["Uuid"]?.text else { return nil }
        self.path = path
        self.uuid = uuid
        id = properties["Id"]?.text ?? uuid
        // NMActiveConnectionState: 0 unknown, 1 activating, 2 activated, 3 deactivating, 4 deactivated.
        switch properties["State"]?.integer {
        case 2: state = .activated
        case 3, 4: state = .ending
        default: state = .activating
        }
        accessPoint = properties["SpecificObject"]?.text.flatMap { $0 == "/" ? nil : $0 }
    }
}
