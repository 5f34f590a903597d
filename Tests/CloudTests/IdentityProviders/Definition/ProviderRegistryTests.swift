// SPDX-License-Identifier: Apache-2.0
import TestSupport
import IdentityProviders
import RainAccount
import RainMaker
import RainKitTesting
import Testing

@Suite("The available providers")
struct ProviderRegistryTests {
    @Test("a user's own definition extends a built-in one")
    func extending() throws {
        var registry = ProviderRegistry.builtIn
        try registry.add(
            parsing: Array(
                """
                {"schemaVersion":1,"extends":"oidc","id":"company","title":"Our company",
                 "parameters":[{"name":"issuer","value":"https://id.example.com"}],
                 "grants":{"password":null},"unsupported":{"password":"passwords are for the sign-in page only"}}
                """.utf8), origin: "company.json")
        let definition = try registry.entry("company").definition
        #expect(definition.discovery == "{issuer}/.well-known/openid-configuration")
        let password = definition.capabilities.first { $0.grant == .password }
        #expect(password?.whyNot == "passwords are for the sign-in page only")
    }

    @Test("a null removes a member; under a known name it may remove nothing")
    func takenAway() throws {
        var registry = ProviderRegistry.builtIn
        try registry.add(
            parsing: Array(
                """
                {"schemaVersion":1,"extends":"oidc","id":"company","discovery":null,"issuer":null,"title":null,
                 "grants":{"password":null,"assertion":null},"client":{"secretFile":null},"links":null}
                """.utf8), origin: "company.json")
        try registry.add(
            parsing: Array(#"{"schemaVersion":1,"id":"own","title":null,"extends":null}"#.utf8), origin: "own.json")
        #expect(try registry.entry("company").definition.discovery == nil)
        #expect(try registry.entry("own").definition.title == nil)
    }

    @Test(
        "an invalid definition is refused, and the error names the cause",
        arguments: [
            ("", "JSON"), ("{}", "schemaVersion"), (#"{"schemaVersion":2,"id":"x"}"#, "schemaVersion is 2"),
            (#"{"schemaVersion":1}"#, "id"), (#"{"schemaVersion":1,"id":"Über"}"#, "lower-case"),
            (#"{"schemaVersion":1,"id":"oidc"}"#, "already"),
            (#"{"schemaVersion":1,"id":"x","extends":"y"}"#, "extends"),
            (#"{"schemaVersion":1,"id":"x","endpoint":{}}"#, "endpoint"),
            (#"{"schemaVersion":"1","id":"x"}"#, "\"schemaVersion\" must be a whole number"),
            (#"{"schemaVersion":1,"id":"x","extends":5}"#, "\"extends\" must be a string"),
            (#"{"schemaVersion":1,"id":"x","grants":{"password":{"pkce":false}}}"#, "grants.password.pkce"),
            (#"{"schemaVersion":1,"id":"x","issuer":["https://x"]}"#, "issuer"),
            (#"{"schemaVersion":1,"id":"x","grants":{"magic":{}}}"#, "magic"),
            (#"{"schemaVersion":1,"id":"x","grants":{"password":{"pcke":"S256"}}}"#, "pcke"),
            (#"{"schemaVersion":1,"id":"x","grants":{"passwrd":null}}"#, "passwrd"),
            (
                #"{"schemaVersion":1,"id":"x","extends":"oidc","grants":{"passwrd":null}}"#,
                #"the grant "passwrd" is not known"#
            ),
            (
                #"{"schemaVersion":1,"id":"x","extends":"oidc","unsupported":{"passwrd":null}}"#,
                #"the grant "passwrd" is not known"#
            ),
            (#"{"schemaVersion":1,"id":"x","extends":"oidc","discovry":null}"#, "member, discovry"),
            (#"{"schemaVersion":1,"id":"x","discovry":null}"#, "member, discovry"),
            (#"{"schemaVersion":1,"id":"x","extends":"oidc","client":{"secret":null}}"#, "member, client.secret"),
            (#"{"schemaVersion":1,"id":"x","parameters":[{"name":"a","valu":null}]}"#, "member, parameters.valu"),
            (#"{"schemaVersion":1,"id":"x","errors":[{"reason":"bad_luck"}]}"#, "bad_luck"),
            (#"{"schemaVersion":1,"id":"x","defaultEnvironment":"stage"}"#, "defaultEnvironment"),
            (#"{"schemaVersion":1,"id":"x","redirects":[{"way":"carrier pigeon"}]}"#, "carrier pigeon"),
        ])
    func refused(text: String, word: String) async {
        let error = await accountError { () throws(AccountError) in
            var registry = ProviderRegistry.builtIn
            try registry.add(parsing: Array(text.utf8), origin: "x.json")
        }
        #expect(error?.code == .unreadableDefinition)
        #expect(error?.message.contains(word) == true, "\(error?.message ?? "")")
    }
}
