// SPDX-License-Identifier: Apache-2.0
import DeviceCore
import RainCore
import RainCrypto
import RainCryptoOpenSSL
import RainJSON

/// A node of RainMaker Neo: its topics, its shadow, and its messages in Neo's form. A value without I/O.
///
/// Topics and payloads are those of `docs/api/MQTT_Node.yaml` of esp-rainmaker-neo. The board has values and services as with RainMaker, and
/// this type translates them.
struct NeoNode {
    /// A message as it is sent.
    struct Message: Equatable {
        var topic: String
        var payload: [UInt8]
    }

    /// What to do with a message of the board.
    enum Handling: Equatable {
        case send(Message)
        /// The node does not know its groups yet.
        case wait
        /// Neo has no such message.
        case drop
    }

    private let node: String
    /// The group and the sub-groups in the names of topics, such as `g12345-k2x`; nil while they are not known.
    private(set) var groups: String?
    private var configurationVersion = ""

    init(node: String) { self.node = node }

    var fromCloud: String { "rainmaker/nodes/\(node)/from_cloud" }
    /// The topic on which users set values; nil while the groups are not known.
    var userParameters: String? { groups.map { "rainmaker/nodes/\(node)/user/params-\($0)/params" } }
    private var shadow: String? { groups.map { "$aws/things/\(node)/shadow/name/params-\($0)/update" } }

    /// The first message of a connection: it asks for the groups.
    var question: NodePublication {
        let payload: JSONValue = ["event": ["getGroupInfo", "getSchedVer", "getTriggerVer", "getTimeSync"]]
        return NodePublication(kind: .answer, topic: Array(toCloud.utf8), payload: payload.serialized())
    }

    private var toCloud: String { "$aws/rules/node_to_cloud_rule/rainmaker/nodes/\(node)/to_cloud" }

    /// Takes a message from the cloud. Returns whether the groups have changed.
    mutating func take(_ message: JSONValue) -> Bool {
        guard let info = message["getGroupInfo"] else { return false }
        let group = info["pgrp"]?.string ?? ""
        // The list is in any order.
        let parts = (info["subgrps"]?.array ?? []).compactMap(\.string).sorted()
        let new = group.isEmpty ? nil : ([group] + parts).joined(separator: "-")
        guard new != groups else { return false }
        groups = new
        return true
    }

    /// Translates a message of the board.
    mutating func handling(of publication: NodePublication) -> Handling {
        let limits = JSONLimits(maximumBytes: 128 << 10, maximumDepth: 16, maximumValues: 20_000)
        guard let json = try? JSONValue(parsing: publication.payload, limits: limits) else { return .drop }
        let topic = String(decoding: publication.topic, as: UTF8.self)
        switch publication.kind {
        case .userMapping: return .drop
        case .config:
            let configuration = Self.configuration(json)
            configurationVersion = Hex.text(OpenSSLHashes.sha256(configuration.serialized()))
            let payload: JSONValue = [
                "event": ["setNodeConfig"],
                "setNodeConfig": ["node_id": .string(node), "config": configuration],
            ]
            return .send(Message(topic: toCloud, payload: payload.serialized()))
        case .initialParameters:
            return report(["params": json, "online": true, "ncfg_ver": .string(configurationVersion)])
        case .parameters: return report(["params": json])
        case .answer where topic == toCloud: return .send(Message(topic: topic, payload: publication.payload))
        case .answer, .message:
            guard topic.hasSuffix("tsdata") else { return .drop }
            guard let groups else { return .wait }
            guard let record = Self.record(json) else { return .drop }
            return .send(
                Message(
                    topic: "$aws/rules/node_ts_rule/rainmaker/nodes/\(node)/ts/\(groups)", payload: record.serialized())
            )
        }
    }

    private func report(_ reported: JSONValue) -> Handling {
        guard let shadow else { return .wait }
        let payload: JSONValue = ["state": ["reported": reported]]
        return .send(Message(topic: shadow, payload: payload.serialized()))
    }

    /// A record of RainMaker's time series in Neo's form. Firmware sends milliseconds.
    private static func record(_ json: JSONValue) -> JSONValue? {
        let head = json["ts_data"]?.array?.first ?? json
        let point = head["records"]?.array?.first ?? head
        guard let name = head["name"]?.string, let type = head["dt"]?.string, let time = point["t"]?.integer,
            let value = point["v"]
        else { return nil }
        return [
            "k": .string(name), "dt": .string(type), "t": .integer(time * 1000), "v": value, "tz": "UTC",
        ]
    }

    /// The configuration in Neo's form: names are ids, and there is one kind of time series.
    static func configuration(_ json: JSONValue) -> JSONValue {
        func renamed(_ json: JSONValue) -> JSONValue {
            .object(
                (json.members ?? []).map { member in
                    switch member.name {
                    case "name": return .init("id", member.value)
                    case "params": return .init("params", .array((member.value.array ?? []).map(renamed)))
                    case "properties":
                        return .init(
                            "properties",
                            .array((member.value.array ?? []).map { $0 == "simple_ts" ? "time_series" : $0 }))
                    case "valid_strs": return .init("valid_strings", member.value)
                    default: return member
                    }
                })
        }
        func list(_ name: String) -> JSONValue { .array((json[name]?.array ?? []).map(renamed)) }
        return [
            "data_model": "default", "info": json["info"] ?? .object([]), "devices": list("devices"),
            "services": list("services"),
        ]
    }
}
