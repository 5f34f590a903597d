// SPDX-License-Identifier: Apache-2.0
import RainAccount
import RainJSON
import RainCore

/// One of the user's nodes, as the cloud knows it. What a node has not reported yet is nil.
public struct Node: Sendable, Equatable {
    /// The cloud's name for the node, which the board got when it was claimed.
    public var id: NodeID
    /// `primary` or `secondary`: whether the user owns the node or it was shared with them.
    public var role: String?
    /// Whether the cloud has a connection to the node.
    public var connectivity: Connectivity?
    /// What the firmware calls itself, such as `ESP RainMaker Device`. A name that the user gave is among the ``parameters``.
    public var name: String?
    /// What kind of device the firmware makes of the board, such as `Lightbulb`.
    public var type: String?
    /// The model that the firmware was built for (`model` in its configuration).
    public var model: String?
    /// The version that the firmware gives itself (`fw_version`).
    public var firmwareVersion: String?
    /// `key:value` each.
    public var tags: [String]
    /// All that the node has said about itself: its devices, services and their parameters.
    public var configuration: JSONValue?
    /// The current values of its parameters.
    public var parameters: JSONValue?
    /// What applications keep with the node in the cloud, as a JSON object.
    public var metadata: JSONValue?

    /// The node's connection to the cloud.
    public struct Connectivity: Sendable, Equatable {
        /// True while the node is connected. A node that lost its power is noticed after a while only.
        public var isConnected: Bool
        /// Since when, by the cloud's clock.
        public var since: UnixTime?
        /// The cloud's own time when it said so (`Date`, in whole seconds, rounded down); nil where it did not say.
        public var asOf: UnixTime?

        public init(isConnected: Bool, since: UnixTime? = nil, asOf: UnixTime? = nil) {
            self.isConnected = isConnected
            self.since = since
            self.asOf = asOf
        }

        /// `{"connected":bool,"timestamp":ms}`, with or without `connectivity` around it.
        init?(_ json: JSONValue?) {
            guard let json = json?["connectivity"] ?? json, let isConnected = json["connected"]?.bool else {
                return nil
            }
            self.isConnected = isConnected
            since = json["timestamp"].flatMap(LenientInteger.init).map { UnixTime(seconds: Double($0.value) / 1000) }
        }
    }

    /// An entry of `node_details`; nil without an id.
    init?(_ json: JSONValue) {
        guard let id = json["id"]?.string, !id.isEmpty else { return nil }
        self.id = NodeID(id)
        role = json["role"]?.string
        connectivity = Connectivity(json["status"])
        configuration = json["config"]
        let info = configuration?["info"]
        name = info?["name"]?.string
        type = info?["type"]?.string
        model = info?["model"]?.string
        firmwareVersion = info?["fw_version"]?.string
        tags = (json["tags"]?.array ?? []).compactMap(\.string)
        parameters = json["params"]
        metadata = json["metadata"]
    }
}
