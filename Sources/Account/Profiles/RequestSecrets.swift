import HTTPCore
import JSON
import OAuth2

/// The secrets in a request that was sent, so that a server's words can be shown without them: some servers throw back what they were
/// sent.
struct RequestSecrets {
    private let texts: [String]

    /// Shorter ones would take ordinary words out of sentences.
    private static let minimumLength = 4

    init(_ request: HTTPRequest) {
        var found: [String] = []
        for header in request.headers
        where ["authorization", "proxy-authorization", "cookie", "x-csrf-token"].contains(header.name.lowercased()) {
            found.append(header.value)
            found += header.value.split(whereSeparator: { " ,;\"".contains($0) }).map(String.init)
        }
        if let json = try? JSONValue(parsing: request.body, limits: TokenResponse.limits) {
            Self.collect(json, named: "", &found)
        } else if let form = try? ParameterList(parsing: request.body) {
            Self.collect(form, &found)
        }
        if let query = request.url.firstIndex(of: "?"),
            let parameters = try? ParameterList(parsing: request.url[request.url.index(after: query)...].utf8)
        {
            Self.collect(parameters, &found)
        }
        found += found.flatMap { [FormEncoding.encoded($0), FormEncoding.encodedForQuery($0)] }
        // The longest first, so that no piece of it is left.
        texts = Set(found.filter { $0.utf8.count >= Self.minimumLength }).sorted {
            ($1.utf8.count, $0) < ($0.utf8.count, $1)
        }
    }

    private static func collect(_ parameters: ParameterList, _ found: inout [String]) {
        for name in parameters.names where isSecret(name) { found.append(parameters[name] ?? "") }
    }

    private static func collect(_ json: JSONValue, named name: String, _ found: inout [String]) {
        switch json {
        case .string(let text): if isSecret(name) { found.append(text) }
        case .object(let members): for member in members { collect(member.value, named: member.name, &found) }
        case .array(let values): for value in values { collect(value, named: name, &found) }
        default: break
        }
    }

    private static func isSecret(_ name: String) -> Bool {
        let name = name.lowercased()
        if ["token_type_hint", "grant_type", "token_type", "code_challenge_method"].contains(name) { return false }
        return ["pass", "secret", "token", "code", "assertion", "session"].contains { name.contains($0) }
    }

    /// The words with every secret cut out.
    func cut(from words: String) -> String {
        texts.reduce(words) { words, secret in words.replacing(secret, with: "…") }
    }
}
