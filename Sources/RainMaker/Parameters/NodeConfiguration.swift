// SPDX-License-Identifier: Apache-2.0
import RainAccount
import RainJSON

/// What a node has said that it consists of: its devices and services, and their parameters (`config`; esp-rainmaker's `esp_rmaker_node_config.c`).
public struct NodeConfiguration: Sendable, Equatable {
    /// A device or a service: something with parameters.
    public struct Component: Sendable, Equatable {
        /// What paths call it, such as `Light`.
        public var name: String
        /// Such as `esp.device.lightbulb` or `esp.service.schedule`.
        public var type: String?
        /// Whether it is a service, which people seldom set by hand.
        public var isService: Bool
        /// In the node's order.
        public var parameters: [Parameter]

        /// The parameter of that name.
        public func parameter(_ name: String) -> Parameter? { parameters.first { $0.name == name } }
    }

    /// One parameter, and what it takes.
    public struct Parameter: Sendable, Equatable {
        /// What paths call it, such as `Power`.
        public var name: String
        /// Such as `esp.param.power`.
        public var type: String?
        /// `bool`, `int`, `float`, `string`, `object` or `array`; nil where the node does not say, and then any value is taken.
        public var dataType: String?
        /// Whether the cloud may set it (`properties` has `write`; a node that names none is taken at its best).
        public var isWritable: Bool
        /// Whether the node reports its value (`properties` has `read`; a node that names none is taken at its best).
        public var isReadable: Bool
        /// The least number that is taken.
        public var minimum: Double?
        /// The greatest.
        public var maximum: Double?
        /// The distance between those that are taken, from the least on.
        public var step: Double?
        /// The only texts that are taken, where the node lists them (`valid_strs`).
        public var validTexts: [String]?

        /// Whether the node reports the value that it was set to. A trigger of the system service does not: it has the node act, and stays
        /// `false` (`esp_rmaker_system_service_enable`: `esp.param.reboot`, `esp.param.wifi-reset`, `esp.param.factory-reset`).
        public var reportsWhatIsSet: Bool {
            guard isReadable, let type else { return isReadable }
            return type != "esp.param.reboot" && !(type.hasPrefix("esp.param.") && type.hasSuffix("-reset"))
        }
    }

    /// Devices first, then services; each in the node's order.
    public var components: [Component]

    /// - Parameter json: a node's `config`; nil where it is not an object.
    public init?(_ json: JSONValue?) {
        guard let json, json.members != nil else { return nil }
        components = [("devices", false), ("services", true)].flatMap { member, isService in
            (json[member]?.array ?? []).prefix(Self.maximumComponents).compactMap {
                Component($0, isService: isService)
            }
        }
    }

    /// More than any firmware has.
    static let maximumComponents = 256

    /// The device or service of that name.
    public func component(_ name: String) -> Component? { components.first { $0.name == name } }

    /// The parameter by which the user names the node: the first of type `esp.param.name`, in the first device that has one.
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
    init?(_ json: JSONValue, isService: Bool) {
        guard let name = json["name"]?.string, !name.isEmpty else { return nil }
        self.name = name
        type = json["type"]?.string
        self.isService = isService
        parameters = (json["params"]?.array ?? []).prefix(NodeConfiguration.maximumComponents)
            .compactMap(NodeConfiguration.Parameter.init)
    }
}

extension NodeConfiguration.Parameter {
    init?(_ json: JSONValue) {
        guard let name = json["name"]?.string, !name.isEmpty else { return nil }
        self.name = name
        type = json["type"]?.string
        dataType = json["data_type"]?.string
        let properties = json["properties"]?.array
        isWritable = properties.map { $0.contains("write") } ?? true
        isReadable = properties.map { $0.contains("read") } ?? true
        minimum = json["bounds"]?["min"]?.double
        maximum = json["bounds"]?["max"]?.double
        step = json["bounds"]?["step"]?.double
        validTexts = json["valid_strs"]?.array?.compactMap(\.string)
    }
}

extension Node {
    /// What the user calls the board: the value of its name parameter, or else what the firmware calls itself.
    public var displayName: String? {
        guard let path = NodeConfiguration(configuration)?.nameParameter,
            let given = parameters?[path.component]?[path.parameter]?.string, !given.isEmpty
        else { return name }
        return given
    }
}

extension NodeConfiguration {
    /// The parameter at a path, as the node describes it.
    ///
    /// Throws `noSuchComponent` or `noSuchParameter`, with the names that there are.
    public func parameter(at path: ParameterPath) throws(ParameterError) -> Parameter {
        guard let component = component(path.component) else {
            let devices = components.filter { !$0.isService }.map(\.name)
            let known = devices.isEmpty ? components.map(\.name) : devices
            throw ParameterError(
                .noSuchComponent,
                message: "There is no device \(presentable(path.component)); it has \(Self.list(known)).")
        }
        guard let parameter = component.parameter(path.parameter) else {
            throw ParameterError(
                .noSuchParameter,
                message: "\(presentable(component.name)) has no parameter \(presentable(path.parameter)); it has "
                    + "\(Self.list(component.parameters.map(\.name))).")
        }
        return parameter
    }

    /// What the cloud would forward and firmware would ignore or refuse is found here, where it can be told.
    ///
    /// Throws for the first change that the node does not take.
    public func check(_ changes: [ParameterChange]) throws(ParameterError) {
        for change in changes {
            let parameter = try parameter(at: change.path)
            guard parameter.isWritable else {
                throw ParameterError(.readOnly, message: "\(presentable("\(change.path)")) can only be read.")
            }
            try parameter.check(change.value, at: change.path)
        }
    }

    /// The changes, checked, as firmware reads them: a whole number that is written as `5.0` or `5e1` is `5`, `50`, since firmware's reader
    /// takes digits alone for an integer (`json_tok_to_int` of json_parser).
    public func checked(_ changes: [ParameterChange]) throws(ParameterError) -> [ParameterChange] {
        try check(changes)
        return try changes.map { change throws(ParameterError) in
            ParameterChange(change.path, try parameter(at: change.path).asRead(change.value))
        }
    }

    /// A value as a person writes it, read by the parameter's type: `on` for a switch, `50`, `warm white`, JSON for objects and arrays.
    public func change(_ path: ParameterPath, from text: String) throws(ParameterError) -> ParameterChange {
        let parameter = try parameter(at: path)
        let change = ParameterChange(path, try parameter.value(text, at: path))
        return try checked([change])[0]
    }

    /// The same for a comparison: of a parameter that can only be read, too, and of a value that nobody could set.
    public func value(_ path: ParameterPath, from text: String) throws(ParameterError) -> ParameterChange {
        let value = try parameter(at: path).value(text, at: path)
        return ParameterChange(path, value)
    }

    /// A comparison of what the node reports with a value, once the two can be compared: also of a parameter that can only be read, and with a
    /// number out of its bounds.
    ///
    /// Throws `wrongType` for a value that the parameter never has, and for another order than that of numbers.
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
                        "\(presentable("\(path)")) is no number, and cannot be compared by \(sign), but by = and !=.")
            }
        }
        return ParameterChange(path, parameter.asRead(value))
    }

    static func list(_ names: [String]) -> String {
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
            default: throw wrongType(path, "true or false")
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
        // A board of that name could not be named any more.
        if type == "esp.param.name", let text = value.string, text.allSatisfy(\.isWhitespace) {
            throw ParameterError(
                .notAllowed, message: "\(presentable("\(path)")) is a name, and takes no blank text.")
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
                    "\(presentable("\(path)")) is one of \(NodeConfiguration.list(validTexts)), not \(presentable(text))."
            )
        default: return
        }
    }

    /// A value of the right type, as firmware reads it.
    fileprivate func asRead(_ value: JSONValue) -> JSONValue {
        // Whole and within 32 bits: it has been checked.
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
        case "string": if value.string == nil { throw wrongType(path, "a text") }
        case "object": if value.members == nil { throw wrongType(path, "a JSON object") }
        case "array": if value.array == nil { throw wrongType(path, "a JSON array") }
        default: return
        }
    }

    private func checkBounds(_ number: Double, at path: ParameterPath) throws(ParameterError) {
        let isInside = number >= minimum ?? -.infinity && number <= maximum ?? .infinity
        // Thousandths of a step are how far binary fractions are off.
        let steps = step.map { $0 > 0 ? (number - (minimum ?? 0)) / $0 : 0 } ?? 0
        guard isInside, abs(steps - steps.rounded()) < 0.001 else {
            throw ParameterError(
                .outOfBounds, message: "\(presentable("\(path)")) is a number\(range), not \(Self.text(number)).")
        }
    }

    private var range: String {
        var words = ""
        switch (minimum, maximum) {
        case (let low?, let high?): words = " from \(Self.text(low)) to \(Self.text(high))"
        case (let low?, nil): words = " from \(Self.text(low)) on"
        case (nil, let high?): words = " up to \(Self.text(high))"
        case (nil, nil): break
        }
        if let step, step > 0, step != 1 { words += " in steps of \(Self.text(step))" }
        return words
    }

    private static func text(_ number: Double) -> String {
        Int64(exactly: number).map { "\($0)" } ?? "\(number)"
    }

    private func wrongType(_ path: ParameterPath, _ wanted: String) -> ParameterError {
        ParameterError(.wrongType, message: "\(presentable("\(path)")) takes \(wanted).")
    }
}

/// A parameter of a node: that of a device or a service, `Light.Power`.
public struct ParameterPath: Sendable, Hashable, CustomStringConvertible {
    /// The device or service.
    public var component: String
    /// The parameter of it.
    public var parameter: String

    public init(component: String, parameter: String) {
        self.component = component
        self.parameter = parameter
    }

    public var description: String { "\(component).\(parameter)" }
}

/// A value that a parameter is to have.
public struct ParameterChange: Sendable, Hashable {
    /// Of which parameter.
    public var path: ParameterPath
    /// The new value.
    public var value: JSONValue

    public init(_ path: ParameterPath, _ value: JSONValue) {
        self.path = path
        self.value = value
    }
}

extension [ParameterChange] {
    /// As the cloud takes them: `{"Light":{"Power":true}}`.
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

    /// The values that a node has reported; what is not an object of values is left out.
    public init(reported json: JSONValue) {
        self = (json.members ?? []).flatMap { component in
            (component.value.members ?? []).map { value in
                ParameterChange(ParameterPath(component: component.name, parameter: value.name), value.value)
            }
        }
    }

    /// From what ``json`` makes of them; nil for anything but an object of objects.
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

/// Why a value cannot be set, by what the node has said of its parameters. Nothing was sent.
public struct ParameterError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The kind of failure, for programs that act on it.
    public enum Code: String, Sendable {
        /// The node has told the cloud nothing of itself yet.
        case noConfiguration
        /// No device or service of that name.
        case noSuchComponent
        /// The device or service has no such parameter.
        case noSuchParameter
        /// Names with dots may mean one parameter or another.
        case ambiguousPath
        /// It can only be read.
        case readOnly
        /// A value of another type.
        case wrongType
        /// A number that is not taken.
        case outOfBounds
        /// A text that is none of those that are taken.
        case notAllowed
    }

    /// The kind of failure; ``message`` describes it for people.
    public var code: Code
    /// What is wrong, and what would be right.
    public var message: String

    public init(_ code: Code, message: String) {
        self.code = code
        self.message = message
    }

    public var description: String { "\(code): \(message)" }
}
