// SPDX-License-Identifier: Apache-2.0
import RainAccount
import RainJSON

/// A node's description of itself: its devices and services, and their parameters (`config`; esp-rainmaker's `esp_rmaker_node_config.c`).
public struct NodeConfiguration: Sendable, Equatable {
    /// A device or a service, which has parameters.
    public struct Component: Sendable, Equatable {
        /// The name in paths, such as `Light`.
        public var name: String
        /// The type, such as `esp.device.lightbulb` or `esp.service.schedule`.
        public var type: String?
        /// Whether it is a service. People seldom set a service's parameters by hand.
        public var isService: Bool
        /// The parameters, in the node's order.
        public var parameters: [Parameter]
        /// The name of the parameter that applications show first (`primary`), such as `Power`; nil if the node does not name one.
        public var primary: String?

        /// Returns the parameter of that name.
        public func parameter(_ name: String) -> Parameter? { parameters.first { $0.name == name } }
    }

    /// A parameter, and the values that it accepts.
    public struct Parameter: Sendable, Equatable {
        /// The name in paths, such as `Power`.
        public var name: String
        /// The type, such as `esp.param.power`.
        public var type: String?
        /// `bool`, `int`, `float`, `string`, `object` or `array`; nil if the node does not say. Then every value is accepted.
        public var dataType: String?
        /// Whether the cloud may set it (`properties` has `write`). True if the node lists no properties.
        public var isWritable: Bool
        /// Whether the node reports its value (`properties` has `read`). True if the node lists no properties.
        public var isReadable: Bool
        /// The kind of time series that the cloud keeps of it (`properties` has `time_series` or `simple_ts`); nil if it keeps none.
        public var series: SeriesKind?
        /// The minimum number.
        public var minimum: Double?
        /// The maximum number.
        public var maximum: Double?
        /// The distance between accepted numbers, counted from the minimum.
        public var step: Double?
        /// The only accepted texts, if the node lists them (`valid_strs`).
        public var validTexts: [String]?
        /// How applications should show it, such as `esp.ui.slider` (`ui_type`); nil if the node does not say.
        public var uiType: String?

        /// Whether the node reports the value that was set. A trigger of the system service does not: it causes an action and remains
        /// `false`. Triggers are `esp.param.reboot`, `esp.param.wifi-reset` and `esp.param.factory-reset`
        /// (`esp_rmaker_system_service_enable`).
        public var reportsWhatIsSet: Bool {
            guard isReadable, let type else { return isReadable }
            return type != "esp.param.reboot" && !(type.hasPrefix("esp.param.") && type.hasSuffix("-reset"))
        }
    }

    /// Devices first, then services, each in the node's order.
    public var components: [Component]

    /// - Parameter json: a node's `config`. The result is nil if it is not an object.
    public init?(_ json: JSONValue?) {
        guard let json, json.members != nil else { return nil }
        components = [("devices", false), ("services", true)].flatMap { member, isService in
            (json[member]?.array ?? []).prefix(Self.maximumComponents).compactMap {
                Component($0, isService: isService)
            }
        }
    }

    /// The maximum number of components or parameters that are read. No firmware has as many.
    private static let maximumComponents = 256

    /// Returns the device or service of that name.
    public func component(_ name: String) -> Component? { components.first { $0.name == name } }

    /// The parameter that holds the user's name for the node: the first of type `esp.param.name`, in the first device that has one.
    public var nameParameter: ParameterPath? {
        for device in components where !device.isService {
            if let parameter = device.parameters.first(where: { $0.type == "esp.param.name" }) {
                return ParameterPath(component: device.name, parameter: parameter.name)
            }
        }
        return nil
    }
}

extension NodeConfiguration.Component {
    fileprivate init?(_ json: JSONValue, isService: Bool) {
        guard let name = json["name"]?.string, !name.isEmpty else { return nil }
        self.name = name
        type = json["type"]?.string
        self.isService = isService
        parameters = (json["params"]?.array ?? []).prefix(NodeConfiguration.maximumComponents)
            .compactMap(NodeConfiguration.Parameter.init)
        primary = json["primary"]?.string
    }
}

extension NodeConfiguration.Component {
    /// The parameter that switches the device on and off: the first of type `esp.param.power` that can be set.
    public var powerParameter: NodeConfiguration.Parameter? {
        parameters.first { $0.type == "esp.param.power" && $0.isWritable }
    }

    /// The parameter that ``primary`` names; nil without one.
    public var primaryParameter: NodeConfiguration.Parameter? { primary.flatMap { parameter($0) } }
}

extension NodeConfiguration.Parameter {
    fileprivate init?(_ json: JSONValue) {
        guard let name = json["name"]?.string, !name.isEmpty else { return nil }
        self.name = name
        type = json["type"]?.string
        dataType = json["data_type"]?.string
        let properties = json["properties"]?.array
        isWritable = properties.map { $0.contains("write") } ?? true
        isReadable = properties.map { $0.contains("read") } ?? true
        // Firmware refuses both at once.
        series =
            properties.flatMap { $0.contains("time_series") ? .full : $0.contains("simple_ts") ? .simple : nil }
        minimum = json["bounds"]?["min"]?.double
        maximum = json["bounds"]?["max"]?.double
        step = json["bounds"]?["step"]?.double
        validTexts = json["valid_strs"]?.array?.compactMap(\.string)
        uiType = json["ui_type"]?.string
    }
}

extension Node {
    /// The user's name for the board: the value of its name parameter, or else the firmware's name.
    public var displayName: String? {
        guard let path = NodeConfiguration(configuration)?.nameParameter,
            let given = parameters?[path.component]?[path.parameter]?.string, !given.isEmpty
        else { return name }
        return given
    }
}

extension NodeConfiguration {
    /// Returns the parameter at a path, as the node describes it.
    ///
    /// Throws `noSuchComponent` or `noSuchParameter`, with the existing names.
    public func parameter(at path: ParameterPath) throws(ParameterError) -> Parameter {
        guard let component = component(path.component) else {
            let devices = components.filter { !$0.isService }.map(\.name)
            let known = devices.isEmpty ? components.map(\.name) : devices
            throw ParameterError(
                .noSuchComponent,
                message:
                    "The board has no device \"\(presentable(path.component))\"; its devices are: \(Self.list(known)).")
        }
        guard let parameter = component.parameter(path.parameter) else {
            let device = "\(component.isService ? "service" : "device") \(presentable(component.name))"
            let known = Self.list(component.parameters.map(\.name))
            throw ParameterError(
                .noSuchParameter,
                message: path.parameter.isEmpty
                    ? "Name a parameter of the \(device) too, as in \(presentable(component.name)).Power; it has \(known)."
                    : "The \(device) has no parameter \(presentable(path.parameter)); it has \(known).")
        }
        return parameter
    }

    /// Throws for the first change that the node does not accept.
    ///
    /// The cloud would forward such a change, and firmware would ignore or refuse it without a message.
    public func check(_ changes: [ParameterChange]) throws(ParameterError) {
        for change in changes {
            let parameter = try parameter(at: change.path)
            guard parameter.isWritable else {
                throw ParameterError(.readOnly, message: "\(presentable("\(change.path)")) is read-only.")
            }
            try parameter.check(change.value, at: change.path)
        }
    }

    /// Returns the checked changes in a form that firmware can read. A whole number such as `5.0` or `5e1` becomes `5` or `50`, because
    /// firmware reads only digits as an integer (`json_tok_to_int` of json_parser).
    public func checked(_ changes: [ParameterChange]) throws(ParameterError) -> [ParameterChange] {
        try check(changes)
        return try changes.map { change throws(ParameterError) in
            ParameterChange(change.path, try parameter(at: change.path).asRead(change.value))
        }
    }

    /// Reads a value that a person wrote, by the parameter's type: `on` for a switch, `50`, `warm white`, JSON for objects and arrays.
    public func change(_ path: ParameterPath, from text: String) throws(ParameterError) -> ParameterChange {
        let parameter = try parameter(at: path)
        let change = ParameterChange(path, try parameter.value(text, at: path))
        return try checked([change])[0]
    }

    /// Reads a value for a comparison. It accepts read-only parameters, and values that nobody could set.
    public func value(_ path: ParameterPath, from text: String) throws(ParameterError) -> ParameterChange {
        let value = try parameter(at: path).value(text, at: path)
        return ParameterChange(path, value)
    }

    /// Returns a comparison of the node's reports with a value. It accepts read-only parameters, and numbers out of bounds.
    ///
    /// Throws `wrongType` for a value that the parameter never has, and for an order of values that are not numbers.
    /// - Parameter sign: `==`, `!=`, `<`, `>`, `<=` or `>=`.
    public func comparison(
        _ path: ParameterPath, _ sign: String, _ value: JSONValue
    ) throws(ParameterError) -> ParameterChange {
        let parameter = try parameter(at: path)
        try parameter.checkType(value, at: path)
        if ["<", ">", "<=", ">="].contains(sign) {
            guard ["int", "float", nil].contains(parameter.dataType), value.double != nil else {
                throw ParameterError(
                    .wrongType,
                    message:
                        "\(presentable("\(path)")) is not a number, so \(sign) cannot be used here: use = or !=.")
            }
        }
        return ParameterChange(path, parameter.asRead(value))
    }

    private static func list(_ names: [String]) -> String {
        names.isEmpty ? "none" : names.prefix(20).map(presentable).joined(separator: ", ")
    }
}

extension NodeConfiguration.Parameter {
    fileprivate func value(_ text: String, at path: ParameterPath) throws(ParameterError) -> JSONValue {
        let json = try? JSONValue(parsing: Array(text.utf8))
        switch dataType {
        case "bool":
            switch text.lowercased() {
            case "true", "on", "yes", "1": return true
            case "false", "off", "no", "0": return false
            default: throw wrongType(path, "on or off (also true or false)")
            }
        case "int": return json?.double == nil ? .string(text) : json!
        case "float": return json?.double == nil ? .string(text) : json!
        case "string": return .string(text)
        case "object", "array": return json ?? .string(text)
        default: return json ?? .string(text)
        }
    }

    fileprivate func check(_ value: JSONValue, at path: ParameterPath) throws(ParameterError) {
        try checkType(value, at: path)
        // A board with a blank name could not be addressed by name.
        if type == "esp.param.name", let text = value.string, text.allSatisfy(\.isWhitespace) {
            throw ParameterError(
                .notAllowed, message: "\(presentable("\(path)")) is a name and cannot be blank.")
        }
        switch dataType {
        case "int", "float": if let number = value.double { try checkBounds(number, at: path) }
        case "string":
            guard let text = value.string, let validTexts, !validTexts.isEmpty, !validTexts.contains(text) else {
                return
            }
            throw ParameterError(
                .notAllowed,
                message:
                    "\(presentable("\(path)")) must be one of \(NodeConfiguration.list(validTexts)), not \(presentable(text))."
            )
        default: return
        }
    }

    /// Returns a value of the right type in the form that firmware reads.
    fileprivate func asRead(_ value: JSONValue) -> JSONValue {
        // The number has been checked: it is whole and fits into 32 bits.
        guard dataType == "int", value.integer == nil, let number = value.double else { return value }
        return .integer(Int64(number))
    }

    fileprivate func checkType(_ value: JSONValue, at path: ParameterPath) throws(ParameterError) {
        switch dataType {
        case "bool": if value.bool == nil { throw wrongType(path, "true or false") }
        case "int":
            guard let number = value.double, number == number.rounded(),
                (Double(Int32.min)...Double(Int32.max)).contains(number)
            else {
                throw wrongType(path, "a whole number\(range)")
            }
        case "float": if value.double == nil { throw wrongType(path, "a number\(range)") }
        case "string": if value.string == nil { throw wrongType(path, "a string") }
        case "object": if value.members == nil { throw wrongType(path, "a JSON object") }
        case "array": if value.array == nil { throw wrongType(path, "a JSON array") }
        default: return
        }
    }

    private func checkBounds(_ number: Double, at path: ParameterPath) throws(ParameterError) {
        let isInside = number >= minimum ?? -.infinity && number <= maximum ?? .infinity
        // Binary fractions are off by thousandths of a step at most.
        let steps = step.map { $0 > 0 ? (number - (minimum ?? 0)) / $0 : 0 } ?? 0
        guard isInside, abs(steps - steps.rounded()) < 0.001 else {
            throw ParameterError(
                .outOfBounds, message: "\(presentable("\(path)")) must be a number\(range), not \(Self.text(number)).")
        }
    }

    private var range: String {
        var words = ""
        switch (minimum, maximum) {
        case (let low?, let high?): words = " from \(Self.text(low)) to \(Self.text(high))"
        case (let low?, nil): words = " of at least \(Self.text(low))"
        case (nil, let high?): words = " of at most \(Self.text(high))"
        case (nil, nil): break
        }
        if let step, step > 0, step != 1 { words += " in steps of \(Self.text(step))" }
        return words
    }

    private static func text(_ number: Double) -> String {
        Int64(exactly: number).map { "\($0)" } ?? "\(number)"
    }

    private func wrongType(_ path: ParameterPath, _ wanted: String) -> ParameterError {
        ParameterError(.wrongType, message: "\(presentable("\(path)")) must be \(wanted).")
    }
}

/// The path of a node's parameter: a device or service, and the parameter, such as `Light.Power`.
public struct ParameterPath: Sendable, Hashable, CustomStringConvertible {
    /// The name of the device or service.
    public var component: String
    /// The name of its parameter.
    public var parameter: String

    public init(component: String, parameter: String) {
        self.component = component
        self.parameter = parameter
    }

    public var description: String { "\(component).\(parameter)" }
}

/// A new value for a parameter.
public struct ParameterChange: Sendable, Hashable {
    /// The parameter.
    public var path: ParameterPath
    /// The new value.
    public var value: JSONValue

    public init(_ path: ParameterPath, _ value: JSONValue) {
        self.path = path
        self.value = value
    }
}

extension [ParameterChange] {
    /// The changes in the cloud's form: `{"Light":{"Power":true}}`.
    public var json: JSONValue {
        var components: [JSONValue.Member] = []
        for change in self {
            let member = JSONValue.Member(change.path.parameter, change.value)
            if let index = components.firstIndex(where: { $0.name == change.path.component }) {
                components[index].value = .object((components[index].value.members ?? []) + [member])
            } else {
                components.append(.init(change.path.component, .object([member])))
            }
        }
        return .object(components)
    }

    /// The values that a node has reported. Anything that is not an object of values is omitted.
    public init(reported json: JSONValue) {
        self = (json.members ?? []).flatMap { component in
            (component.value.members ?? []).map { value in
                ParameterChange(ParameterPath(component: component.name, parameter: value.name), value.value)
            }
        }
    }

    /// Reads the form of ``json``. Returns nil for anything but an object of objects.
    public init?(_ json: JSONValue) {
        guard let components = json.members else { return nil }
        self = []
        for component in components {
            guard let values = component.value.members else { return nil }
            for value in values {
                append(ParameterChange(ParameterPath(component: component.name, parameter: value.name), value.value))
            }
        }
    }
}

/// The reason why a value cannot be set, from the node's description of its parameters. Nothing was sent.
public struct ParameterError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The kind of failure, for programs that act on it.
    public enum Code: String, Sendable {
        /// The node has not reported its configuration yet.
        case noConfiguration
        /// There is no device or service of that name.
        case noSuchComponent
        /// The device or service has no such parameter.
        case noSuchParameter
        /// The path is ambiguous, because names contain dots.
        case ambiguousPath
        /// The parameter is read-only.
        case readOnly
        /// The value has another type.
        case wrongType
        /// The number is out of bounds.
        case outOfBounds
        /// The text is not one of the accepted texts.
        case notAllowed
    }

    /// The kind of failure; ``message`` describes it for people.
    public var code: Code
    /// What is wrong, and which values are accepted.
    public var message: String

    public init(_ code: Code, message: String) {
        self.code = code
        self.message = message
    }

    public var description: String { "\(code): \(message)" }
}
