// SPDX-License-Identifier: Apache-2.0
import RainJSON

/// A board with a certificate of this cloud.
struct Node: Codable, Sendable, Equatable {
    enum KeyKind: String, Codable, Sendable { case p256, rsa }

    var id: String
    var keyKind: KeyKind
    /// The node's certificate, PEM: challenges are verified with its key.
    var certificate: String
    /// The configuration that the node last published.
    var config: JSONValue?
    /// The values of its parameters, as last published.
    var params: JSONValue?
    var tags: [String] = []
    /// What applications keep with the node; an object.
    var metadata: JSONValue?
    var connectivity = Connectivity()

    struct Connectivity: Codable, Sendable, Equatable {
        var isConnected = false
        /// Milliseconds since 1970 of the last change; 0 if it was never seen.
        var changedAt: Int64 = 0

        var json: JSONValue { ["connectivity": ["connected": .bool(isConnected), "timestamp": .integer(changedAt)]] }
    }

    /// Takes over the values of `update`, device by device and parameter by parameter.
    mutating func merge(params update: JSONValue) {
        guard let devices = update.members else { return }
        var all = params?.members ?? []
        for device in devices {
            guard let index = all.firstIndex(where: { $0.name == device.name }),
                var values = all[index].value.members, let changes = device.value.members
            else {
                all.removeAll { $0.name == device.name }
                all.append(device)
                continue
            }
            for change in changes {
                values.removeAll { $0.name == change.name }
                values.append(change)
            }
            all[index].value = .object(values)
        }
        params = .object(all)
    }
}

/// A node of `--node`: its id, and the kind of its key.
public struct NodeSpecification: Sendable, Equatable {
    var id: String
    var keyKind: Node.KeyKind

    /// `ID` or `ID:rsa`. An id becomes a certificate's name, a topic level and a file name.
    public init?(_ text: String) {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count == 1 || parts.count == 2 && (parts[1] == "rsa" || parts[1] == "p256") else { return nil }
        id = String(parts[0])
        keyKind = parts.count == 2 && parts[1] == "rsa" ? .rsa : .p256
        let allowed = id.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "-"), UInt8(ascii: "_"):
                true
            default: false
            }
        }
        guard allowed, (1...64).contains(id.utf8.count) else { return nil }
    }
}
