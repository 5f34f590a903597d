// SPDX-License-Identifier: Apache-2.0
import RainAccount
import RainCore
import RainJSON
import RainMaker

/// One entity of Home Assistant: a light, a switch, a sensor. It shows and sets parameters of a board.
///
/// A value without input and output. ``HomeAssistantBoard`` makes the entities of a board.
public struct HomeAssistantEntity: Sendable {
    /// The kind of entity (Home Assistant's components for MQTT).
    public enum Component: String, Sendable, CaseIterable {
        /// Devices, each with a power switch, a position or a mode of its own.
        case light, `switch`, fan, lock, cover, climate
        /// Single values, and what a board can be told to do.
        case sensor, number, select, text, button, update
        /// A value that is on or off, and cannot be set.
        case binarySensor = "binary_sensor"
    }

    /// The place of an entity on a device's page; nil for those in front.
    enum Category: String { case config, diagnostic }

    /// The kind of entity.
    public let component: Component
    /// The name within the board, in the characters of ``HomeAssistantTopics/level(_:)``.
    public let key: String
    /// The name that people see; nil for the board's only device, which has the board's name.
    public let name: String?
    let category: Category?
    /// Whether Home Assistant shows it without being asked. A factory reset should not be beside the light switch.
    let isEnabled: Bool
    private let mapping: any HomeAssistantMapping

    init(
        _ component: Component, key: String, name: String?, category: Category? = nil, isEnabled: Bool = true,
        _ mapping: any HomeAssistantMapping
    ) {
        self.component = component
        self.key = key
        self.name = name
        self.category = category
        self.isEnabled = isEnabled
        self.mapping = mapping
    }

    /// The names of the commands that it takes, such as `set`. Empty for an entity that only shows something.
    public var commands: [String] { mapping.commands }

    /// Whether two commands of this kind may be replaced by the later one. A button may not.
    var isIdempotent: Bool { component != .button && component != .update }

    /// Whether it is shown while the board is offline.
    var isShownOffline: Bool { mapping is ConnectivityMapping }

    /// Returns the state as JSON for these values; nil while nothing is known that Home Assistant could show.
    ///
    /// - Parameter refusal: why the last command was not carried out.
    public func state(of node: RainKitNode, refusal: String? = nil) -> JSONValue? {
        guard var members = mapping.state(NodeValues(node)) else { return Optional.none }
        if !commands.isEmpty { members.append(.init("refused", refusal.map { .string($0) } ?? .null)) }
        return .object(members)
    }

    /// Returns the new values for the board that a command asks for. They are checked by what the board says of its parameters.
    ///
    /// - Throws: `ParameterError` for a command that does not exist, or a value that the board does not accept.
    public func changes(
        for command: String, _ payload: [UInt8], at node: RainKitNode
    ) throws(ParameterError) -> [ParameterChange] {
        guard !commands.isEmpty else {
            throw ParameterError(.readOnly, message: "This entity can only be read, so it takes no commands.")
        }
        guard commands.contains(command) else {
            let topics = commands.map { $0 == "set" ? $0 : "set/\($0)" }.joined(separator: " or ")
            let given = command == "set" ? command : "set/\(command)"
            throw ParameterError(
                .notAllowed,
                message: "The topic ends with \(presentable(given)), but commands for this entity need \(topics).")
        }
        guard payload.count <= Self.maximumPayload else {
            throw ParameterError(
                .notAllowed, message: "The command is longer than \(Self.maximumPayload) bytes.")
        }
        guard let text = String(validating: payload, as: UTF8.self) else {
            throw ParameterError(.notAllowed, message: "The command is not UTF-8 text.")
        }
        guard let configuration = NodeConfiguration(node.configuration) else {
            throw ParameterError(.noConfiguration, message: "The board has not reported its devices.")
        }
        return try configuration.checked(try mapping.changes(command, text, NodeValues(node)))
    }

    /// The maximum number of bytes of a command.
    static let maximumPayload = 4096

    /// Returns the discovery message.
    ///
    /// - Parameter device: the board, as ``HomeAssistantBoard/device(_:area:)`` describes it.
    public func discovery(of node: NodeID, device: JSONValue, _ topics: HomeAssistantTopics) -> JSONValue {
        let state = topics.state(of: node, key)
        var members: [JSONValue.Member] = [
            .init("name", name.map { .string($0) } ?? .null),
            .init("unique_id", .string("\(topics.identity(HomeAssistantTopics.level(node.rawValue)))_\(key)")),
            .init("device", device),
            .init(
                "origin",
                ["name": "RainKit", "sw_version": .string(RainKitVersion.current)]),
            .init(
                "availability",
                .array(
                    ([topics.bridgeAvailability] + (isShownOffline ? [] : [topics.availability(of: node)])).map {
                        ["topic": .string($0)]
                    })),
            .init("availability_mode", "all"),
        ]
        if component != .button { members.append(.init("state_topic", .string(state))) }
        if !commands.isEmpty {
            // Exactly once, also when a connection breaks.
            members.append(.init("qos", 2))
            if component != .update {
                members.append(.init("json_attributes_topic", .string(state)))
                members.append(
                    .init(
                        "json_attributes_template",
                        "{{ {'refused': value_json.refused, 'reported': value_json.reported | default(none)} | tojson }}"
                    ))
            }
        }
        if let category { members.append(.init("entity_category", .string(category.rawValue))) }
        if !isEnabled { members.append(.init("enabled_by_default", false)) }
        members += mapping.configuration(state: state) { topics.command(of: node, key, $0) }
        // Some components have no topic of their own for the whole state.
        if [.cover, .climate].contains(component) { members.removeAll { $0.name == "state_topic" } }
        return .object(members)
    }
}

/// The relation between an entity of one component and the parameters of a board.
protocol HomeAssistantMapping: Sendable {
    /// The names of its commands.
    var commands: [String] { get }
    /// The members of the discovery message that only this component has.
    func configuration(state: String, _ command: (String) -> String) -> [JSONValue.Member]
    /// The members of the state; nil if nothing is known.
    func state(_ values: NodeValues) -> [JSONValue.Member]?
    /// The values that a command sets. They need not be checked.
    func changes(_ command: String, _ payload: String, _ values: NodeValues) throws(ParameterError)
        -> [ParameterChange]
}

extension HomeAssistantMapping {
    var commands: [String] { [] }
    func changes(_ command: String, _ payload: String, _ values: NodeValues) throws(ParameterError)
        -> [ParameterChange]
    { throw ParameterError(.readOnly, message: "It is read-only.") }
}

/// What is known of a board when a state is made.
struct NodeValues {
    private let node: Node

    init(_ node: Node) { self.node = node }

    var isConnected: Bool { node.connectivity?.isConnected ?? false }
    var firmwareVersion: String? { node.firmwareVersion }
    subscript(parameter: MappedParameter) -> JSONValue? {
        node.parameters?[parameter.path.component]?[parameter.path.parameter]?.unlessNull
    }
}

/// A parameter that an entity shows or sets.
struct MappedParameter: Sendable, Equatable {
    let path: ParameterPath
    let parameter: NodeConfiguration.Parameter

    /// The lowest and highest number that the board accepts, or else these.
    func range(or usual: ClosedRange<Double>) -> ClosedRange<Double> {
        let low = parameter.minimum ?? usual.lowerBound
        let high = parameter.maximum ?? usual.upperBound
        // Whole numbers stay exact up to here, and the difference of two bounds is finite. NaN is in no range.
        let largest = 9_007_199_254_740_992.0
        return low >= -largest && high <= largest && low < high ? low...high : usual
    }

    /// The distance between two accepted numbers.
    var step: Double {
        if let step = parameter.step, step.isFinite, step > 0 { return step }
        return parameter.dataType == "float" ? 0.1 : 1
    }

    func setting(_ value: JSONValue) -> ParameterChange { ParameterChange(path, value) }

    /// A number in the parameter's type.
    func setting(to number: Double) -> ParameterChange {
        if parameter.dataType != "float", let whole = Int64(exactly: number.rounded()) {
            return ParameterChange(path, .integer(whole))
        }
        return ParameterChange(path, .number(number))
    }

    /// - Throws: `wrongType` for a text that is not a number.
    func setting(number text: String) throws(ParameterError) -> ParameterChange {
        guard let number = Double(text), number.isFinite else {
            throw ParameterError(.wrongType, message: "\(presentable(text)) is not a number.")
        }
        guard parameter.dataType != "float" else { return ParameterChange(path, .number(number)) }
        guard let whole = Int64(exactly: number) else { return ParameterChange(path, .number(number)) }
        return ParameterChange(path, .integer(whole))
    }

    /// - Throws: `wrongType` for anything but ON and OFF.
    func setting(onOff text: String) throws(ParameterError) -> ParameterChange {
        switch text {
        case "ON": ParameterChange(path, true)
        case "OFF": ParameterChange(path, false)
        default: throw ParameterError(.wrongType, message: "The command must be ON or OFF.")
        }
    }
}

/// A linear scale from a parameter's numbers to whole numbers from 0 on, such as a brightness of up to 255.
struct NumberScale: Sendable, Equatable {
    let range: ClosedRange<Double>
    let step: Double
    /// The highest number of Home Assistant.
    let top: Double

    init(_ parameter: MappedParameter, usual: ClosedRange<Double>, top: Double) {
        range = parameter.range(or: usual)
        step = parameter.step
        self.top = top
    }

    /// The number for Home Assistant. Values out of bounds count as the nearest bound.
    func shown(_ value: Double) -> Double {
        let inside = min(max(value, range.lowerBound), range.upperBound)
        return ((inside - range.lowerBound) / (range.upperBound - range.lowerBound) * top).rounded()
    }

    /// The board's number for one of Home Assistant, in the parameter's steps.
    ///
    /// - Parameter isLight: whether a number above zero must not become a dark zero.
    func set(_ shown: Double, isLight: Bool = false) -> Double {
        let share = min(max(shown, 0), top) / top
        let span = range.upperBound - range.lowerBound
        var steps = (share * span / step).rounded()
        if isLight, shown > 0, range.lowerBound <= 0 { steps = max(steps, 1) }
        return min(range.lowerBound + min(steps, (span / step + 0.001).rounded(.down)) * step, range.upperBound)
    }
}
