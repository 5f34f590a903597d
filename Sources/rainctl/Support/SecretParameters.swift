// SPDX-License-Identifier: Apache-2.0
import RainJSON
import RainKit

/// Values of a board that are secrets: shown where they are asked for by name, and nowhere else.
///
/// It is the proof of possession of local control, which the firmware reports to the cloud for its owner's phone.
struct SecretParameters: Sendable {
    /// What `esp_rmaker_local_ctrl.c` calls it; a board that has said nothing of itself can have values all the same.
    private static let usual = ParameterPath(component: "Local Control", parameter: "POP")

    private let paths: Set<ParameterPath>

    /// - Parameter configuration: what the node has said of itself: firmware of one's own may have other names for the same type.
    init(of configuration: NodeConfiguration?) {
        var paths: Set = [Self.usual]
        for component in configuration?.components ?? [] {
            for parameter in component.parameters where parameter.type == "esp.param.local_control_pop" {
                paths.insert(ParameterPath(component: component.name, parameter: parameter.name))
            }
        }
        self.paths = paths
    }

    func contains(_ path: ParameterPath) -> Bool { paths.contains(path) }

    /// Values as they may be shown: a secret is there, and its value is not.
    func masked(in values: JSONValue) -> JSONValue {
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
    var secretParameters: SecretParameters { SecretParameters(of: NodeConfiguration(configuration)) }
}

extension JSONValue {
    static let masked: JSONValue = "<secret>"
}
