// SPDX-License-Identifier: Apache-2.0
import RainHTTP
import RainJSON

/// A description's requests, checked and ready to be filled in.
struct MappingCalls: Sendable {
    struct Call: Sendable {
        var method: HTTPRequest.Method
        var url: URLTemplate
        var body: BodyTemplate?

        var placeholders: [MappingPlaceholder] { url.placeholders + (body?.placeholders ?? []) }
    }

    var signIn: Call?
    var signOut: Call?
    var add: Call
    var status: Call?
    var challenge: Call?
    var verify: Call?

    init(_ description: NodeMappingDescription) throws(MappingDescriptionProblem) {
        if let signIn = description.signIn {
            self.signIn = try Self.call(signIn.call, "signIn", knows: [.code, .userID], needs: [.code])
            try Self.check(path: signIn.token, "signIn.token")
            guard !signIn.client.isEmpty else {
                throw MappingDescriptionProblem(member: "signIn.client", sentence: "it is empty")
            }
        }
        if let signOut = description.signOut {
            guard description.signIn != nil else {
                throw MappingDescriptionProblem(member: "signOut", sentence: "it needs signIn, and signIn is missing")
            }
            self.signOut = try Self.call(signOut, "signOut", knows: [.userID], needs: [])
        }
        add = try Self.call(
            description.add.call, "add", knows: [.nodeID, .userID, .secretKey, .tags, .metadata], needs: [.nodeID])
        try Self.check(path: description.add.request, "add.request")
        if let status = description.status {
            self.status = try Self.call(status.call, "status", knows: [.requestID, .userID], needs: [.requestID])
            try Self.check(path: status.state, "status.state")
            guard !status.confirmed.isEmpty else {
                throw MappingDescriptionProblem(member: "status.confirmed", sentence: "it names no word")
            }
            var words = Set<String>()
            for word in [status.confirmed, status.requested ?? [], status.timedOut ?? [], status.discarded ?? []]
                .joined()
            where !words.insert(word).inserted {
                throw MappingDescriptionProblem(member: "status", sentence: "the word \(word) stands there twice")
            }
        }
        guard (description.challenge == nil) == (description.verify == nil) else {
            let missing = description.challenge == nil ? "challenge" : "verify"
            throw MappingDescriptionProblem(
                member: missing, sentence: "it is missing: challenge and verify go together")
        }
        if let challenge = description.challenge, let verify = description.verify {
            self.challenge = try Self.call(challenge.call, "challenge", knows: [.userID, .lifetime], needs: [])
            try Self.check(path: challenge.request, "challenge.request")
            try Self.check(path: challenge.challenge, "challenge.challenge")
            self.verify = try Self.call(
                verify, "verify", knows: [.requestID, .nodeID, .userID, .signature, .tags, .metadata],
                needs: [.requestID, .nodeID, .signature])
        }
        guard description.signIn != nil || description.sendsProviderToken == true else {
            throw MappingDescriptionProblem(
                member: "signIn",
                sentence:
                    "it is missing. Describe how the backend takes a one-time code, or set sendsProviderToken to true if it is to get the "
                    + "identity provider's own access token")
        }
    }

    private static func call(
        _ call: NodeMappingDescription.Call, _ member: String, knows known: Set<MappingPlaceholder>,
        needs needed: [MappingPlaceholder]
    ) throws(MappingDescriptionProblem) -> Call {
        guard let method = HTTPRequest.Method(rawValue: call.method) else {
            throw MappingDescriptionProblem(
                member: "\(member).method", sentence: "\(call.method) is none of GET, POST, PUT, DELETE")
        }
        let url = try URLTemplate(call.url, member: "\(member).url")
        var body: BodyTemplate?
        if let json = call.body {
            guard method != .get else {
                throw MappingDescriptionProblem(member: "\(member).body", sentence: "a GET has no body")
            }
            body = try BodyTemplate(json, member: "\(member).body")
        }
        let checked = Call(method: method, url: url, body: body)
        for placeholder in checked.placeholders where !known.contains(placeholder) {
            throw MappingDescriptionProblem(
                member: member, sentence: "{\(placeholder.rawValue)} is not known when this request is made")
        }
        for placeholder in needed where !checked.placeholders.contains(placeholder) {
            throw MappingDescriptionProblem(
                member: member, sentence: "{\(placeholder.rawValue)} stands neither in its url nor in its body")
        }
        return checked
    }

    private static func check(path: String?, _ member: String) throws(MappingDescriptionProblem) {
        guard let path else { return }
        let parts = path.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count <= 8, parts.allSatisfy({ !$0.isEmpty }) else {
            throw MappingDescriptionProblem(member: member, sentence: "it is not a path of members such as data.id")
        }
    }
}
