// SPDX-License-Identifier: Apache-2.0
import RainJSON

extension JSONValue {
    /// An object's members one by one, as deep as both are objects; null takes a member away. Anything else takes the place of what was.
    func merged(with change: JSONValue) -> JSONValue {
        guard let changes = change.members else { return change }
        var members = members ?? []
        for change in changes {
            let index = members.firstIndex { $0.name == change.name }
            if change.value.isNull {
                if let index { members.remove(at: index) }
                continue
            }
            let value = (index.map { members[$0].value } ?? .null).merged(with: change.value)
            if let index { members[index].value = value } else { members.append(.init(change.name, value)) }
        }
        return .object(members)
    }
}
