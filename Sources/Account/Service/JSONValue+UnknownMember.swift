// SPDX-License-Identifier: Apache-2.0
import RainJSON

extension JSONValue {
    /// Returns the path of the first member that `known` lacks. This value is the document that was read, and `known` is the same document
    /// written by the model. Members that are null count as absent.
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

    /// Returns the first member that is `null` and whose name `Model` does not know, as a path with dots. Returns nil if there is none.
    ///
    /// Decoding skips members that are `null`, whatever their names. This method therefore replaces the `null` by a list of lists, which no
    /// model accepts. The model refuses it under a name that it knows.
    /// - Parameter whole: makes the document to decode from this value, if this value is only a part of it.
    package func firstNull<Model: Codable>(
        unknownTo model: Model.Type, in whole: (JSONValue) -> JSONValue = { $0 }
    ) -> String? {
        probes(.array([.array([])])).first { _, probe in
            let json = whole(probe)
            guard let decoded = try? JSONCoder.decode(Model.self, from: json),
                let known = try? JSONCoder.value(of: decoded)
            else { return false }
            return json.firstMember(unknownTo: known) != nil
        }?.path
    }

    /// Returns one copy of this value for each `null` in it, with `value` in place of the `null`, and the path.
    private func probes(_ value: JSONValue) -> [(path: String, probe: JSONValue)] {
        switch self {
        case .null: return [("", value)]
        case .object(let members):
            return members.indices.flatMap { index in
                members[index].value.probes(value).map { path, probe in
                    var changed = members
                    changed[index] = Member(members[index].name, probe)
                    let name = presentable(members[index].name)
                    return (path: path.isEmpty ? name : "\(name).\(path)", probe: .object(changed))
                }
            }
        case .array(let values):
            return values.indices.flatMap { index in
                values[index].probes(value).map { path, probe in
                    var changed = values
                    changed[index] = probe
                    return (path: path, probe: .array(changed))
                }
            }
        default: return []
        }
    }
}
