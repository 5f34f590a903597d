import JSON

extension CloudAPI {
    /// `GET user2`: optional members are absent when they are not set.
    func profile(_ call: Call) throws(APIError) -> Response {
        let user = try call.caller()
        var members: [JSONValue.Member] = [
            .init("user_id", .string(user.id)), .init("user_name", .string(user.userName)), .init("mfa", false),
        ]
        if let name = user.name { members.append(.init("name", .string(name))) }
        members.append(.init(user.userName.hasPrefix("+") ? "phone_number" : "email", .string(user.userName)))
        return Response(.object(members))
    }

    /// `PUT user2`: the name is what can be changed here.
    func updateProfile(_ call: Call) throws(APIError) -> Response {
        let user = try call.caller()
        guard let name = try call.body().string("name") else { throw .nothingToUpdate }
        guard (1...256).contains(name.count) else { throw .badName }
        try change { $0.users[user.id]?.name = name }
        return success("User updated successfully")
    }
}
