// SPDX-License-Identifier: Apache-2.0
import RainAccount
import RainJSON

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
                message: "It has no device \(presentable(path.component)); it has \(Self.list(known)).")
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
