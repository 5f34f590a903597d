// SPDX-License-Identifier: Apache-2.0

/// The values of the one device that the example has: a light with a name and a switch, on at first as RainMaker's `led_light` is.
public struct NodeParameters: Sendable, Equatable {
    /// New values for some of them.
    public struct Change: Sendable, Equatable {
        /// At most ``NodeParameters/nameLimit`` bytes; a longer one is not taken.
        public var name: [UInt8]?
        public var isOn: Bool?

        public init(name: [UInt8]? = nil, isOn: Bool? = nil) {
            self.name = name
            self.isOn = isOn
        }
    }

    /// What fits a reported value with room to spare.
    public static var nameLimit: Int { 64 }

    public private(set) var name = bytes("Light")
    public private(set) var isOn = true

    /// The values of the services that the application has beside the light: members of a JSON object, such as `"Time":{"TZ":""}`.
    public var services: [UInt8] = []

    /// All of them have been reported over this connection.
    private var areReported = false
    /// What was taken over and is not reported yet.
    private var unreported = Change()

    /// Takes over what fits, and has it reported, also where it is what was there before.
    mutating func apply(_ change: Change) {
        if let name = change.name, name.count <= Self.nameLimit {
            self.name = name
            unreported.name = name
        }
        if let isOn = change.isOn {
            self.isOn = isOn
            unreported.isOn = isOn
        }
    }

    /// What is to be reported next: all after each connection, then what changes.
    func publication(nodeID: [UInt8]) -> NodePublication? {
        if !areReported { return all(nodeID: nodeID) }
        guard unreported != Change() else { return nil }
        return NodeMessages.parameters(.parameters, unreported, nodeID: nodeID)
    }

    func all(nodeID: [UInt8]) -> NodePublication {
        NodeMessages.parameters(
            .initialParameters, Change(name: name, isOn: isOn), others: services, nodeID: nodeID)
    }

    mutating func connected() { areReported = false }

    mutating func published(_ publication: NodePublication, nodeID: [UInt8]) {
        guard publication == self.publication(nodeID: nodeID) else { return }
        areReported = true
        unreported = Change()
    }
}
