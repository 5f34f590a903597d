// SPDX-License-Identifier: Apache-2.0
import RainAccount
import RainJSON
import RainCore

/// One of the user's nodes, as the cloud knows it. What a node has not reported yet is nil.
public struct Node: Sendable, Equatable {
    public var id: NodeID
    /// `primary` or `secondary`: whether the user owns the node or it was shared with them.
    public var role: String?
    public var connectivity: Connectivity?
    public var name: String?
    public var type: String?
    public var model: String?
    public var firmwareVersion: String?
    /// `key:value` each.
    public var tags: [String]
    /// All that the node has said about itself: its devices, services and their parameters.
    public var configuration: JSONValue?
    /// The current values of its parameters.
    public var parameters: JSONValue?
    public var metadata: JSONValue?

    public struct Connectivity: Sendable, Equatable {
        public var isConnected: Bool
        /// Since when.
        public var since: UnixTime?

        public init(isConnected: Bool, since: UnixTime? = nil) {
            self.isConnected = isConnected
            self.since = since
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
