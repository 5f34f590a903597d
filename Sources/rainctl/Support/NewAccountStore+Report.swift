import RainJSON
import RainKit

extension NewAccountStore {
    /// Where the session is, for a command's JSON.
    var members: [JSONValue.Member] {
        var members = [JSONValue.Member("store", .string((account?.kind ?? kind).rawValue))]
        if let name = account?.key.account { members.append(.init("account", .string(name))) }
        return members
    }

    /// What a person should know who might expect to stay signed in.
    var remark: String { account?.kind == .memory ? " The session was not kept." : "" }
}
