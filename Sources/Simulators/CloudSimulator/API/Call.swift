// SPDX-License-Identifier: Apache-2.0
import RainJSON

/// One request to the API: the caller, the path, the query and the body.
struct Call {
    var request: Request
    /// Set for every endpoint that asks for authorisation.
    var access: TokenIssuer.Access?
    var user: User?
    /// The last part of the path, for endpoints that have one there.
    var pathParameter = ""

    /// Deep enough for every body of the API, and for custom values.
    static let limits = JSONLimits(
        maximumBytes: RequestParser.maximumBody, maximumDepth: 16, maximumValues: 20_000)

    /// The body, which must be an object. None at all counts as an empty one where `isOptional`.
    func body(isOptional: Bool = false) throws(APIError) -> Fields {
        if isOptional, request.body.isEmpty { return Fields(value: .object([])) }
        guard let value = try? JSONValue(parsing: request.body, limits: Self.limits), value.members != nil else {
            throw .invalidBody
        }
        return Fields(value: value)
    }

    /// The whole body, whatever JSON it is.
    func anyBody() throws(APIError) -> JSONValue {
        guard let value = try? JSONValue(parsing: request.body, limits: Self.limits) else { throw .invalidBody }
        return value
    }

    func caller() throws(APIError) -> User {
        guard let user else { throw .unauthorized }
        return user
    }

    /// The node that the query names; the official client says `nodeid`.
    func nodeID() throws(APIError) -> String {
        guard let id = request.query("node_id", "nodeid") else { throw .nodeIDMissing }
        return id
    }
}

/// The members of a request's body. `null` counts as absent, since the official client sends it so.
struct Fields {
    var value: JSONValue

    /// Longer strings are refused wherever they stand.
    static let maximumString = 4096

    func has(_ name: String) -> Bool { value[name].map { !$0.isNull } ?? false }

    func string(_ name: String) throws(APIError) -> String? {
        guard let member = value[name], !member.isNull else { return nil }
        guard let text = member.string, text.utf8.count <= Self.maximumString else { throw .invalidBody }
        return text
    }

    /// A verification code: clients send it as text, some as a number.
    func code() throws(APIError) -> String? {
        if let number = value["verification_code"]?.integer {
            let digits = String(number)
            return String(repeating: "0", count: max(0, 6 - digits.count)) + digits
        }
        return try string("verification_code").flatMap { $0.isEmpty ? nil : $0 }
    }

    func integer(_ name: String) throws(APIError) -> Int64? {
        guard let member = value[name], !member.isNull else { return nil }
        guard let number = member.integer else { throw .invalidBody }
        return number
    }

    func bool(_ name: String) throws(APIError) -> Bool? {
        guard let member = value[name], !member.isNull else { return nil }
        guard let flag = member.bool else { throw .invalidBody }
        return flag
    }

    /// Tags are `key:value`, both sides given.
    func tags() throws(APIError) -> [String] {
        guard let member = value["tags"], !member.isNull else { return [] }
        guard let list = member.array, list.count <= 64 else { throw .invalidBody }
        var tags: [String] = []
        for element in list {
            guard let tag = element.string else { throw .invalidBody }
            let parts = tag.split(separator: ":", maxSplits: 1)
            guard parts.count == 2, tag.utf8.count <= 256 else { throw .badTag }
            tags.append(tag)
        }
        return tags
    }
}
