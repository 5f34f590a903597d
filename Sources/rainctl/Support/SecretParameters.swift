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
        guard let changes = [ParameterChange](self), changes.contains(where: { $0.path.isSecret }) else { return self }
        return changes.map { $0.shownWithoutSecret }.json
    }
}

extension ParameterChange {
    fileprivate var shownWithoutSecret: ParameterChange { path.isSecret ? ParameterChange(path, .masked) : self }
}

extension JSONValue {
    static let masked: JSONValue = "<secret>"
}
