// SPDX-License-Identifier: Apache-2.0
import RainJSON

/// Values of applications that the cloud keeps with an account, each under a key.
public struct RainMakerCustomData: Sendable, Equatable {
    /// One value and its key.
    public struct Entry: Sendable, Equatable {
        /// The name that the application chose for the value.
        public var key: String
        /// Any JSON; nil where a key has no value.
        public var value: JSONValue?
        /// Who else may see it, in the deployment's own terms.
        public var permissions: [JSONValue]

        public init(key: String, value: JSONValue?, permissions: [JSONValue] = []) {
            self.key = key
            self.value = value
            self.permissions = permissions
        }
    }

    /// In the order in which the cloud gave them.
    public var entries: [Entry]

    /// The entry under a key; nil if there is none, and the last of several.
    public subscript(key: String) -> Entry? { entries.last { $0.key == key } }

    /// `{"<key>": {"value": …, "perms": […]}}`; nil for anything but an object.
    init?(_ json: JSONValue) {
        guard let members = json.members else { return nil }
        entries = members.map { member in
            Entry(
                key: member.name, value: member.value["value"]?.unlessNull,
                permissions: member.value["perms"]?.array ?? [])
        }
    }
}
