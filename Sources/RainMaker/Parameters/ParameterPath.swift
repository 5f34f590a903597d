// SPDX-License-Identifier: Apache-2.0
import RainJSON

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
