// SPDX-License-Identifier: Apache-2.0

/// One MQTT message that the node wants to publish with quality of service 1.
public struct NodePublication: Sendable, Equatable {
    public enum Kind: Sendable, Equatable {
        case config, userMapping, initialParameters, parameters
        /// To a command.
        case answer
    }

    public var kind: Kind
    public var topic: [UInt8]
    /// A user mapping holds a secret: never log it.
    public var payload: [UInt8]

    public init(kind: Kind, topic: [UInt8], payload: [UInt8]) {
        self.kind = kind
        self.topic = topic
        self.payload = payload
    }
}

/// What a RainMaker node tells the cloud, on the topics of AWS basic ingest that the firmware uses by default.
enum NodeMessages {
    /// `MAX_PAYLOAD_SIZE` of the firmware's user mapping, its NUL included.
    static let userMappingLimit = 200

    static func config(nodeID: [UInt8], services: [UInt8]) -> NodePublication {
        var payload = bytes("{\"node_id\":")
        payload.append(jsonString: nodeID)
        payload.append(
            """
            ,"config_version":"2020-03-20","info":{"name":"ESP RainMaker Device","fw_version":"1.0","type":"Lightbulb",\
            "model":"led_light","project_name":"led_light","platform":"esp32c3"},"devices":[{"name":"Light",\
            "type":"esp.device.lightbulb","primary":"Power","params":[{"name":"Name","type":"esp.param.name",\
            "data_type":"string","properties":["read","write"]},{"name":"Power","type":"esp.param.power",\
            "data_type":"bool","properties":["read","write"],"ui_type":"esp.ui.toggle"}]}],"services":
            """)
        payload.append(contentsOf: services)
        payload.append("}")
        return NodePublication(
            kind: .config, topic: topic(rule: "esp_node_config", nodeID: nodeID, suffix: "/config"), payload: payload)
    }

    /// Nil where the firmware's buffer is too small for it, and nothing is ever reported.
    static func userMapping(nodeID: [UInt8], userID: [UInt8], secretKey: [UInt8]) -> NodePublication? {
        var payload = bytes("{\"node_id\":")
        payload.append(jsonString: nodeID)
        payload.append(",\"user_id\":")
        payload.append(jsonString: userID)
        payload.append(",\"secret_key\":")
        payload.append(jsonString: secretKey)
        payload.append("}")
        guard payload.count < userMappingLimit else { return nil }
        return NodePublication(
            kind: .userMapping, topic: topic(rule: "esp_user_node_mapping", nodeID: nodeID, suffix: "/user/mapping"),
            payload: payload)
    }

    /// Where the cloud sends new values to.
    static func remoteParameters(nodeID: [UInt8]) -> [UInt8] { bytes("node/") + nodeID + bytes("/params/remote") }

    /// `{"Light":{"Name":…,"Power":…}}`, or what of it there is.
    ///
    /// - Parameter others: further members of that object, as JSON.
    static func parameters(
        _ kind: NodePublication.Kind, _ values: NodeParameters.Change, others: [UInt8] = [], nodeID: [UInt8]
    ) -> NodePublication {
        var payload = bytes("{\"Light\":{")
        if let name = values.name {
            payload.append("\"Name\":")
            payload.append(jsonString: name)
            if values.isOn != nil { payload.append(",") }
        }
        if let isOn = values.isOn { payload.append(isOn ? "\"Power\":true" : "\"Power\":false") }
        payload.append("}")
        if !others.isEmpty {
            payload.append(",")
            payload.append(contentsOf: others)
        }
        payload.append("}")
        let topic =
            kind == .initialParameters
            ? topic(rule: "esp_init_params", nodeID: nodeID, suffix: "/params/local/init")
            : topic(rule: "esp_set_params", nodeID: nodeID, suffix: "/params/local")
        return NodePublication(kind: kind, topic: topic, payload: payload)
    }

    private static func topic(rule: StaticString, nodeID: [UInt8], suffix: StaticString) -> [UInt8] {
        var topic = bytes("$aws/rules/")
        topic.append(rule)
        topic.append("/node/")
        topic.append(contentsOf: nodeID)
        topic.append(suffix)
        return topic
    }
}
