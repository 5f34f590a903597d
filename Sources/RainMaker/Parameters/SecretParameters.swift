// SPDX-License-Identifier: Apache-2.0
import RainJSON

/// The parameters of a node whose values are secrets. Programs show them only to a person who asks for one by its name.
///
/// The only one so far is the proof of possession of local control. Firmware reports it to the cloud for its owner's phone.
public struct SecretParameters: Sendable {
    /// Its name in `esp_rmaker_local_ctrl.c`. A node may report values without having described itself.
    private static let usual = ParameterPath(component: "Local Control", parameter: "POP")

    private let paths: Set<ParameterPath>

    /// - Parameter configuration: the node's description of itself. Other firmware may have other names for the same type.
    public init(of configuration: NodeConfiguration?) {
        var paths: Set = [Self.usual]
        for component in configuration?.components ?? [] {
            for parameter in component.parameters where parameter.type == "esp.param.local_control_pop" {
                paths.insert(ParameterPath(component: component.name, parameter: parameter.name))
            }
        }
        self.paths = paths
    }

    /// Whether the value of this parameter is a secret.
    public func contains(_ path: ParameterPath) -> Bool { paths.contains(path) }

    /// Returns the values with `<secret>` in place of each secret.
    public func masked(in values: JSONValue) -> JSONValue {
        // On the tree itself: whatever else a board reports must not uncover the secret.
        guard let components = values.members else { return values }
        return .object(
            components.map { component in
                guard let values = component.value.members else { return component }
                let shown = values.map { value in
                    let path = ParameterPath(component: component.name, parameter: value.name)
                    return contains(path) ? JSONValue.Member(value.name, .masked) : value
                }
                return JSONValue.Member(component.name, .object(shown))
            })
    }
}

extension Node {
    /// The parameters of this node whose values are secrets.
    public var secretParameters: SecretParameters { SecretParameters(of: NodeConfiguration(configuration)) }
}

extension JSONValue {
    /// Shown in place of a secret.
    package static let masked: JSONValue = "<secret>"
}
