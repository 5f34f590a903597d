// SPDX-License-Identifier: Apache-2.0
import RainJSON
import RainKit

/// Values of boards that are secrets: shown where they are asked for by name, and nowhere else.
extension ParameterPath {
    /// The proof of possession of local control, which its firmware reports to the cloud for the owner's phone
    /// (`esp_rmaker_local_ctrl.c`).
    var isSecret: Bool { component == "Local Control" && parameter == "POP" }
}

extension JSONValue {
    /// Parameters as they may be shown: a secret is there, and its value is not.
    var withoutSecretParameters: JSONValue {
        // On the tree itself: whatever else a board reports must not uncover the secret.
        guard let components = members else { return self }
        return .object(
            components.map { component in
                guard let values = component.value.members else { return component }
                let shown = values.map { value in
                    let path = ParameterPath(component: component.name, parameter: value.name)
                    return path.isSecret ? JSONValue.Member(value.name, .masked) : value
                }
                return JSONValue.Member(component.name, .object(shown))
            })
    }
}

extension JSONValue {
    static let masked: JSONValue = "<secret>"
}
