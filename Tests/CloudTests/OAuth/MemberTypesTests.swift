// SPDX-License-Identifier: Apache-2.0
import RainAccount
import RainJSON
import Testing

/// A member that counted as absent would remove a check: an ID token that is an object would not be checked at all.
@Suite("Types of members in OAuth's documents")
struct MemberTypesTests {
    private func says(_ read: () throws(OAuth2FormatError) -> Void) -> String? {
        do throws(OAuth2FormatError) {
            try read()
            return nil
        } catch {
            #expect(error.code == .malformed)
            return error.message
        }
    }

    private func isFault(_ message: String?, of name: String, _ kind: String) -> Bool {
        message?.hasPrefix("\"\(name)\" must be ") == true && message?.contains(", but it is \(kind)") == true
    }

    private func with(_ base: JSONValue, _ name: String, _ value: JSONValue) -> JSONValue {
        .object((base.members ?? []).filter { $0.name != name } + [.init(name, value)])
    }

    @Test(
        "of a token endpoint's answer",
        arguments: ["access_token", "refresh_token", "id_token", "token_type", "scope"],
        [7, true, 1.5, ["a": "b"]] as [JSONValue])
    func tokens(name: String, value: JSONValue) {
        let message = says { () throws(OAuth2FormatError) in
            _ = try TokenResponse(with(["access_token": "a"], name, value))
        }
        #expect(isFault(message, of: name, value.kind), "\(message as Any)")
    }

    @Test("of a lifetime", arguments: ["soon", "nan", true, [], ["a": 1]] as [JSONValue])
    func lifetime(value: JSONValue) {
        let message = says { () throws(OAuth2FormatError) in
            _ = try TokenResponse(["access_token": "a", "expires_in": value])
        }
        #expect(message?.contains("\"expires_in\"") == true, "\(message as Any)")
    }

    @Test(
        "of a server's metadata",
        arguments: [
            ("issuer", 7), ("token_endpoint", ["https://x"]), ("authorization_endpoint", ["a": "https://x"]),
            ("jwks_uri", true), ("userinfo_endpoint", 1), ("revocation_endpoint", false), ("end_session_endpoint", []),
            ("device_authorization_endpoint", 0), ("introspection_endpoint", 1.5), ("registration_endpoint", 1),
            ("id_token_signing_alg_values_supported", "RS256"), ("scopes_supported", "openid"),
            ("token_endpoint_auth_methods_supported", "client_secret_post"), ("response_types_supported", 5),
            ("grant_types_supported", ["password": true]), ("code_challenge_methods_supported", "S256"),
            ("authorization_response_iss_parameter_supported", "true"),
            ("authorization_response_iss_parameter_supported", 1),
        ] as [(String, JSONValue)])
    func metadata(name: String, value: JSONValue) {
        let message = says { () throws(OAuth2FormatError) in
            _ = try ServerMetadata(with(["issuer": "https://x"], name, value))
        }
        #expect(isFault(message, of: name, value.kind), "\(message as Any)")
    }

    @Test("of lists' elements")
    func elements() {
        let message = says { () throws(OAuth2FormatError) in
            _ = try ServerMetadata(["issuer": "https://x", "id_token_signing_alg_values_supported": ["RS256", 5]])
        }
        #expect(isFault(message, of: "id_token_signing_alg_values_supported[1]", "a number"), "\(message as Any)")
    }

    @Test("null counts as absent, because servers mean it so")
    func null() throws {
        let metadata = try ServerMetadata(["issuer": "https://x", "token_endpoint": nil, "scopes_supported": nil])
        #expect(metadata.tokenEndpoint == nil && metadata.scopes.isEmpty)
    }

    @Test(
        "of a device's codes",
        arguments: ["device_code", "user_code", "verification_uri", "verification_uri_complete", "interval"])
    func device(name: String) {
        let codes: JSONValue = ["device_code": "d", "user_code": "u", "verification_uri": "https://x"]
        let message = says { () throws(OAuth2FormatError) in
            _ = try DeviceAuthorization(with(codes, name, ["a"]))
        }
        #expect(isFault(message, of: name, "a list"), "\(message as Any)")
    }

    @Test(
        "the page for a code is https, or on this machine",
        arguments: [
            ("https://x/device", true), ("http://127.0.0.1:8080/d", true), ("http://localhost/d", true),
            ("http://[::1]:1/d", true), ("http://x/device", false), ("http://127.0.0.1.evil.example/", false),
            ("http://127.0.0.1:1@evil.example/", false), ("https://user@x/", false), ("javascript:alert(1)", false),
            ("file:///etc/passwd", false), ("ftp://x", false),
        ])
    func page(text: String, isTaken: Bool) {
        let codes: JSONValue = ["device_code": "d", "user_code": "u", "verification_uri": .string(text)]
        let isRead = (try? DeviceAuthorization(codes)) != nil
        #expect(isRead == isTaken)
    }

    @Test("of an introspection", arguments: ["active", "scope", "client_id", "username", "sub", "iss", "exp"])
    func introspection(name: String) {
        let message = says { () throws(OAuth2FormatError) in
            _ = try Introspection(with(["active": true], name, ["a": 1]))
        }
        #expect(isFault(message, of: name, "an object"), "\(message as Any)")
    }

    @Test(
        "a key with an unreadable restriction checks nothing",
        arguments: [
            (#""use":5"#, 0), (#""key_ops":"verify""#, 0), (#""key_ops":[1]"#, 0), (#""kid":5"#, 0),
            (#""alg":["RS256"]"#, 0),
            (#""use":null"#, 1), (#""use":"sig","kid":"k","key_ops":["verify"]"#, 1),
        ])
    func keys(member: String, count: Int) throws {
        let text = #"{"keys":[{"kty":"RSA","n":"AQAB","e":"AQAB",\#(member)}]}"#
        #expect(try JSONWebKeySet(JSONValue(parsing: Array(text.utf8))).keys.count == count)
    }
}
