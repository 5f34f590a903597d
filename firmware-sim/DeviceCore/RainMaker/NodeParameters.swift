// SPDX-License-Identifier: Apache-2.0
import ProtocommCore

/// The values of the example's one device: a light with a name and a switch, on at first like RainMaker's `led_light`.
public struct NodeParameters: Sendable, Equatable {
    /// New values for some of them.
    public struct Change: Sendable, Equatable {
        /// At most ``NodeParameters/nameLimit`` bytes; a longer name is ignored.
        public var name: [UInt8]?
        public var isOn: Bool?

        public init(name: [UInt8]? = nil, isOn: Bool? = nil) {
            self.name = name
            self.isOn = isOn
        }
    }

    /// Short enough for every reported value.
    public static var nameLimit: Int { 64 }

    public private(set) var name = bytes("Light")
    public private(set) var isOn = true

    /// The values of the application's services besides the light: members of a JSON object, such as `"Time":{"TZ":""}`.
    public var services: [UInt8] = []

    /// All values have been reported over this connection.
    private var areReported = false
    /// The applied changes that are not reported yet.
    private var unreported = Change()

    /// Applies the valid values and marks them for reporting, even if they did not change.
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

    /// Returns the next values to report: all after each connection, then changes.
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

/// `get_params`, `get_config` and `set_params` in the provisioning session: the node's values before it has a network (esp-rainmaker's
/// `esp_rmaker_prov_local_ctrl.c`).
struct LocalData: Sendable {
    /// `DATA_FRAGMENT_SIZE`.
    private static var fragmentSize: Int { 200 }

    /// The text that a client is reading, from its first fragment on.
    private var text: [UInt8] = []

    /// - Parameter current: the node's present text of that kind.
    mutating func respond(
        to request: [UInt8], _ kind: LocalDataType, current: [UInt8]
    ) throws(HandlerFailure) -> [UInt8] {
        let message: LocalDataPayload
        do { message = try LocalDataPayload(decoding: request) } catch { throw HandlerFailure() }
        var command = GetDataCommand(dataType: kind)
        if case .commandGetData(let given)? = message.payload { command = given }
        // Signed data, which a request with a timestamp asks for, is for clients that report for the node.
        guard command.dataType == kind, !command.hasTimestamp else { return Self.refusal(.invalidParameter) }
        let offset = Int(command.offset)
        if offset == 0 { text = current }
        guard !text.isEmpty else { return Self.refusal(.fail) }
        guard offset <= text.count else { return Self.refusal(.invalidParameter) }
        let fragment = text.dropFirst(offset).prefix(Self.fragmentSize)
        let buffer = PayloadBuffer(
            offset: command.offset, payload: Array(fragment), totalLength: UInt32(text.count))
        if offset + fragment.count >= text.count { text = [] }
        return LocalDataPayload(.responseGetData(PayloadResponse(status: .success, buffer: buffer))).encoded()
    }

    private static func refusal(_ status: LocalDataStatus) -> [UInt8] {
        LocalDataPayload(.responseGetData(PayloadResponse(status: status))).encoded()
    }

    /// Whether the text may be an object; the application parses it.
    static func isObject(_ text: [UInt8]) -> Bool {
        func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || (0x09...0x0D).contains(byte) }
        return text.first { !isSpace($0) } == UInt8(ascii: "{") && text.last { !isSpace($0) } == UInt8(ascii: "}")
    }
}

/// An MQTT message that the node publishes with quality of service 1.
public struct NodePublication: Sendable, Equatable {
    public enum Kind: Sendable, Equatable {
        case config, userMapping, initialParameters, parameters
        /// The answer to a command.
        case answer
        /// A message of the application: an alert, a record of a time series, or about an update.
        case message
    }

    public var kind: Kind
    public var topic: [UInt8]
    /// A user mapping contains a secret: never log it.
    public var payload: [UInt8]

    public init(kind: Kind, topic: [UInt8], payload: [UInt8]) {
        self.kind = kind
        self.topic = topic
        self.payload = payload
    }
}

/// A RainMaker node's messages to the cloud, on the topics of AWS basic ingest, which are the firmware's default.
enum NodeMessages {
    /// `MAX_PAYLOAD_SIZE` of the firmware's user mapping, including its NUL.
    private static let userMappingLimit = 200

    /// - Parameter devices: the devices besides the light, each after a comma.
    static func config(
        nodeID: [UInt8], version: [UInt8], devices: [UInt8], services: [UInt8]
    ) -> NodePublication {
        var payload = bytes("{\"node_id\":")
        payload.append(jsonString: nodeID)
        payload.append(
            ",\"config_version\":\"2020-03-20\",\"info\":{\"name\":\"ESP RainMaker Device\",\"fw_version\":")
        payload.append(jsonString: version)
        payload.append(
            """
            ,"type":"Lightbulb",\
            "model":"led_light","project_name":"led_light","platform":"esp32c3"},"devices":[{"name":"Light",\
            "type":"esp.device.lightbulb","primary":"Power","params":[{"name":"Name","type":"esp.param.name",\
            "data_type":"string","properties":["read","write"]},{"name":"Power","type":"esp.param.power",\
            "data_type":"bool","properties":["read","write"],"ui_type":"esp.ui.toggle"}]}
            """)
        payload.append(contentsOf: devices)
        payload.append("],\"services\":")
        payload.append(contentsOf: services)
        payload.append("}")
        return NodePublication(
            kind: .config, topic: topic(rule: "esp_node_config", nodeID: nodeID, suffix: "/config"), payload: payload)
    }

    /// Returns nil if the message does not fit the firmware's buffer, and so is never reported.
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

    /// The topic of the cloud's new values.
    static func remoteParameters(nodeID: [UInt8]) -> [UInt8] { bytes("node/") + nodeID + bytes("/params/remote") }

    /// Returns `{"Light":{"Name":…,"Power":…}}` with the given members.
    ///
    /// - Parameter others: further members of that object, as JSON.
    fileprivate static func parameters(
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
