// SPDX-License-Identifier: Apache-2.0
import RainJSON

extension Journal {
    /// One request to a simulated system, and what came of it.
    func identity(_ call: IdentityCall, system: IdentitySystem, status: Int, fault: String?) {
        let head: [JSONValue.Member] = [.init("provider", .string(system.rawValue))]
        for note in call.notes {
            write(note.event.rawValue, head + note.members)
        }
        var members =
            head + [
                .init("method", .string(String(call.method.prefix(16)))),
                .init("path", .string(call.route ?? String(call.path.prefix(256)))),
                .init("status", .integer(Int64(status))),
            ]
        if let client = call.client { members.append(.init("client", .string(client))) }
        if let person = call.person { members.append(.init("user", .string(person))) }
        if let fault { members.append(.init("fault", .string(fault))) }
        write("request", members)
    }
}

extension IdentityNote {
    fileprivate var members: [JSONValue.Member] {
        var members: [JSONValue.Member] = [.init("outcome", .string(outcome))]
        if let client { members.append(.init("client", .string(client))) }
        if let person { members.append(.init("user", .string(person))) }
        if let kind { members.append(.init("kind", .string(kind))) }
        if let reason { members.append(.init("reason", .string(reason))) }
        if let isProtected {
            members += [.init("pkce", .bool(isProtected.pkce)), .init("state", .bool(isProtected.state))]
        }
        return members
    }
}
