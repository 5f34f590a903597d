// SPDX-License-Identifier: Apache-2.0
import TestSupport

/// What can be wrong at RainMaker's accounts and at other identity providers.
extension InjectedFault {
    static let ofProviders: [InjectedFault] = [
        account(
            "a wrong current password", "current password is wrong", "password", "change", "--password-file",
            "{}/wrong", "--new-password-file", "{}/password"),
        account(
            "a new password that is too weak", "8 to 256 characters", "password", "change", "--password-file",
            "{}/password", "--new-password-file", "{}/pop"),
        account(
            "a sign-up with a name that is taken", "with this user name", "signup", SimulatedCloud.user,
            "--password-file", "{}/password"),
        account(
            "an account that is already confirmed", "already verified", "confirm", SimulatedCloud.user, "--code",
            "000000"),
        account("an account without a session on this machine", "nobody@example.com", "use", "nobody@example.com"),
        account("a key without a value", "nokey", "data", "get", "nokey"),
        account("a value that is not JSON", "not JSON", "data", "set", "key", "{a"),
        account("a tag without a value", "key:value", "update", "--remove-tag", "x"),
        account("a telephone number without a country code", "country code", "update", "--phone", "123"),
        account("an invalid language", "en-us", "update", "--locale", "klingon!"),
        account(
            "a token for another host", "elsewhere.example does not belong to", "fetch", "https://elsewhere.example/"),
        account(
            "a conversion of an account that is not a guest", "is not a guest", "convert", "new@example.com",
            "--password-file", "{}/password"),
        InjectedFault("account", "a code without a waiting sign-in", "is waiting for a code") {
            try await $0.timed(["login", SimulatedCloud.user, "--code", "000000"], as: $0.bench.maker)
        },
        command("account", "a provider that does not exist", "facebook", ["login", "--provider", "facebook"]),
        spid(
            "a wrong password at SPiD", "user name or password", "--mode", "password", "--password-file", "{}/wrong",
            user: SimulatedIdentity.user),
        spid(
            "an unconfirmed address at SPiD", "not confirmed", "--mode", "password", "--password-file",
            "{}/good", user: "eve@example.com"),
        spid(
            "a wrong client secret at SPiD", "client's id and secret", "--mode", "password", "--password-file",
            "{}/good", secret: "other-secret", user: SimulatedIdentity.user),
        spid(
            "an unknown SPiD environment", "environment", "--mode", "password", "--environment", "nowhere", base: false,
            user: SimulatedIdentity.user),
        spid("a sign-in mode that SPiD does not have", "telepathy", "--mode", "telepathy"),
        spid(
            "a token from a provider that SPiD does not know", "myspace", "--third-party", "myspace",
            "--third-party-token-file", "{}/wrong", "--app-id", "app1"),
        provider(
            "spid", "no client id for SPiD", "client id", SimulatedIdentity.user, "--mode", "password",
            "--password-file", "{}/good"),
        liferay("a wrong password at Liferay", "password", "--password-file", "{}/wrong"),
        liferay("another Liferay company", "company 99", "--set", "companyId=99", "--password-file", "{}/good"),
        liferay("a setting that Liferay does not have", "colour", "--set", "colour=red", "--password-file", "{}/good"),
        liferay(
            "a login name that Liferay does not accept", "loginBy", "--set", "loginBy=shoe", "--password-file",
            "{}/good"),
        command(
            "provider", "no address for Liferay", "portal's address",
            ["login", "ada@example.com", "--provider", "liferay", "--password-file", "{}/password"]),
        oclc(
            "an unknown WSKey", "WSKey", "wskey-9", "--set", "contextInstitutionId=128807", "--set",
            "authenticatingInstitutionId=128807", "--scope", "WMS_NCIP"),
        provider(
            "oclc", "an OCLC address without its path", "/oauth2", "--mode", "client-credentials", "--client-id",
            "wskey-1",
            "--client-secret-file", "{}/wskey-1", "--scope", "WMS_NCIP", "--set", "contextInstitutionId=128807",
            "--set",
            "authenticatingInstitutionId=128807"),
        oclc(
            "another institution's data at OCLC", "institution", "wskey-1", "--set", "contextInstitutionId=91475",
            "--set",
            "authenticatingInstitutionId=128807", "--scope", "WMS_NCIP"),
        oclc(
            "a scope that OCLC does not know", "scope", "wskey-1", "--set", "contextInstitutionId=128807", "--set",
            "authenticatingInstitutionId=128807", "--scope", "NoSuchAPI"),
        spid("an empty assertion", "is empty", "--assertion-file", "{}/empty.bin"),
        spid("an assertion that is not a token", "JSON Web Token", "--assertion-file", "{}/wrong"),
        oclc("no OCLC institution", "contextInstitutionId", "wskey-1", "--scope", "WMS_NCIP"),
        command(
            "provider", "no OpenID Connect issuer", "issuer",
            ["login", "--provider", "oidc", "--client-id", "native-1"]),
        command(
            "provider", "an issuer without encryption", "https://",
            [
                "login", "--provider", "oidc", "--client-id", "native-1", "--set", "issuer=http://id.example.com",
                "--device-code",
            ]),
        oidc("an issuer that publishes nothing", "check the issuer", "@/elsewhere", "native-1", "--device-code"),
        oidc(
            "the address of the description instead of the issuer", "give the issuer without",
            "@/.well-known/openid-configuration", "native-1", "--device-code"),
        oidc(
            "an empty client secret", "client secret is empty", "@", "web-1", "--mode", "client-credentials",
            "--client-secret-file", "{}/empty.bin"),
        InjectedFault("provider", "a description without an endpoint", "has no device_authorization_endpoint") { lab in
            let server = try LoopbackServer { peer in
                while let request = peer.readRequest() {
                    let base = "http://\(request.header("Host") ?? "")"
                    peer.respond(
                        "200 OK", headers: ["Content-Type: application/json"],
                        #"{"issuer":"\#(base)","token_endpoint":"\#(base)/token"}"#)
                }
            }
            return try await lab.rainctl(
                "login", "--provider", "oidc", "--client-id", "native-1", "--set",
                "issuer=http://127.0.0.1:\(server.port)", "--device-code")
        },
        oidc("a client that OpenID Connect does not know", "client", "@", "nobody", "--device-code"),
        oidc(
            "a scope that OpenID Connect does not know", "invalid_scope", "@", "native-1", "--device-code", "--scope",
            "openid nosuch"),
        oidc(
            "a wrong client secret at OpenID Connect", "its secret is wrong", "@", "web-1", "--mode",
            "client-credentials",
            "--client-secret-file", "{}/other-secret"),
        oidc(
            "a code that nobody enters", "nobody has entered the code", "@", "native-1", "--device-code", "--timeout",
            "5", known: .silence(5)),
        provider(
            "neo", "a wrong password at RainMaker Neo", "password", SimulatedIdentity.user, "--mode", "password",
            "--password-file", "{}/wrong"),
        provider(
            "neo", "an unknown user at RainMaker Neo", "user", "zed@example.com", "--mode", "password",
            "--password-file", "{}/good"),
        provider(
            "neo", "an unconfirmed address at RainMaker Neo", "not confirmed", "eve@example.com", "--mode",
            "password", "--password-file", "{}/good"),
        command(
            "provider", "no address for Cognito", "base URL",
            [
                "login", "ada@example.com", "--provider", "cognito", "--mode", "password", "--password-file",
                "{}/password",
            ]),
    ]

    /// A command of the bench's account.
    private static func account(_ name: String, _ words: String, _ arguments: String...) -> InjectedFault {
        InjectedFault("account", name, words) { lab in
            try await lab.timed(
                ["account"] + arguments.map { $0.replacing("{}", with: lab.bench.folder.path) }, as: lab.bench.maker)
        }
    }

    /// A sign-in at a simulated provider, by a maker who has no session there.
    private static func signIn(
        _ name: String, _ words: String, known evidence: Evidence = .start,
        _ arguments: @escaping @Sendable (SimulatedIdentity) throws -> [String]
    ) -> InjectedFault {
        InjectedFault("provider", name, words, known: evidence) { lab in
            try await lab.timed(
                ["login"] + arguments(lab.bench.identity).map { $0.replacing("{}", with: lab.bench.folder.path) })
        }
    }

    private static func provider(
        _ id: String, _ name: String, _ words: String, _ arguments: String...
    ) -> InjectedFault {
        signIn(name, words) { ["--provider", id, "--base-url", try $0.url(id)] + arguments }
    }

    private static func spid(
        _ name: String, _ words: String, _ arguments: String..., secret: String = "app-1", base: Bool = true,
        user: String? = nil
    ) -> InjectedFault {
        signIn(name, words) { identity in
            (user.map { [$0] } ?? [])
                + ["--provider", "spid", "--client-id", "app-1", "--client-secret-file", "{}/\(secret)"]
                + (base ? ["--base-url", try identity.url("spid")] : []) + arguments
        }
    }

    private static func liferay(_ name: String, _ words: String, _ arguments: String...) -> InjectedFault {
        signIn(name, words) {
            [SimulatedIdentity.user, "--provider", "liferay", "--base-url", try $0.url("liferay")] + arguments
        }
    }

    private static func oclc(_ name: String, _ words: String, _ key: String, _ arguments: String...) -> InjectedFault {
        signIn(name, words) {
            [
                "--provider", "oclc", "--base-url", try $0.url("oclc") + "/oauth2", "--mode", "client-credentials",
                "--client-id", key, "--client-secret-file", "{}/wskey-1",
            ] + arguments
        }
    }

    private static func oidc(
        _ name: String, _ words: String, _ issuer: String, _ client: String, _ arguments: String...,
        known evidence: Evidence = .start
    ) -> InjectedFault {
        signIn(name, words, known: evidence) { identity in
            let url = issuer.replacing("@", with: try identity.url("oidc"))
            return ["--provider", "oidc", "--client-id", client, "--set", "issuer=\(url)"] + arguments
        }
    }
}
