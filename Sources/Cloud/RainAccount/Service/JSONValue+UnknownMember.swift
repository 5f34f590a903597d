// SPDX-License-Identifier: Apache-2.0
import RainJSON

extension JSONValue {
    /// The path of the first member here that `known` lacks: this is what was read, and that is what the model wrote of it again.
    /// Members that are null count as absent.
    package func firstMember(unknownTo known: JSONValue) -> String? {
        switch (self, known) {
        case (.object(let members), .object):
            for member in members where !member.value.isNull {
                guard let other = known[member.name] else { return presentable(member.name) }
                if let path = member.value.firstMember(unknownTo: other) {
                    return "\(presentable(member.name)).\(path)"
                }
            }
        case (.array(let values), .array(let others)):
            for (value, other) in zip(values, others) {
                if let path = value.firstMember(unknownTo: other) { return path }
            }
        default: break
        }
        return nil
    }
}
