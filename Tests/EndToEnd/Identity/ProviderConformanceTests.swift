// SPDX-License-Identifier: Apache-2.0
import IdentityProviders
import RainAccount
import RainMaker
import RainHTTPCurl
import RainKit
import RainKitTesting
import TestSupport
import Testing
import RainCore

@Suite("Providers keep what every provider promises")
struct ProviderConformanceTests {
    @Test("RainMaker's cloud")
    func rainMaker() async throws {
        try await withTemporaryFolder { folder in
            let cloud = try await SimulatedCloud.start(in: folder)
            let deployment = try Deployment(name: "sim", base: cloud.api)
            try await IdentityProviderConformance.check {
                IdentityProviderConformance.Subject(
                    http: CurlHTTPClient(CurlConfiguration()),
                    right: { .password(user: SimulatedCloud.user, password: Secret(SimulatedCloud.password)) },
                    wrong: .password(user: SimulatedCloud.user, password: Secret("planted-but-wrong")),
                    secrets: [SimulatedCloud.password, "planted-but-wrong"]
                ) { http, clock in RainMakerIdentity(deployment, http: http, clock: clock) }
            }
        }
    }

    private struct Case: Sendable, CustomTestStringConvertible {
        var id: String
        var settings: ProviderSettings
        var right = SignInCredentials.password(
            user: SimulatedIdentity.user, password: Secret(SimulatedIdentity.password))
        var testDescription: String { id + (settings.mode.map { "/" + $0 } ?? "") }
    }

    private static let cases: [Case] = [
        Case(id: "neo", settings: ProviderSettings(clientID: "native-1")),
        Case(
            id: "oidc", settings: ProviderSettings(clientID: "web-1", clientSecret: Secret("web-1-secret")),
            right: .clientCredentials),
        Case(
            id: "spid",
            settings: ProviderSettings(
                clientID: "app-1", clientSecret: Secret("app-1-secret"), secrets: ["signSecret": Secret("s1gn")])),
        Case(id: "liferay", settings: ProviderSettings(mode: "basic")),
        Case(id: "liferay", settings: ProviderSettings(mode: "cookie")),
        Case(
            id: "liferay",
            settings: ProviderSettings(
                clientID: "screens-2", clientSecret: Secret("screens-2-secret"),
                scope: ["liferay-json-web-services.everything"], mode: "oauth2UsernameAndPassword")),
        Case(
            id: "oclc",
            settings: ProviderSettings(
                clientID: "wskey-1", clientSecret: Secret("wskey-1-secret"), scope: ["WorldCatMetadataAPI"],
                parameters: ["authenticatingInstitutionId": "128807", "contextInstitutionId": "128807"]),
            right: .clientCredentials),
    ]

    @Test("the providers that have their own simulator", arguments: cases)
    private func simulated(the: Case) async throws {
        try await withTemporaryFolder { folder in
            let simulator = try await SimulatedIdentity.start(the.id, in: folder)
            defer { withExtendedLifetime(simulator) {} }
            let base = try simulator.url(the.id)
            var settings = the.settings
            if the.id == "oidc" { settings.parameters = ["issuer": base] } else { settings.base = base }
            if the.id == "oclc" { settings.base = base + "/oauth2" }
            let wrong: SignInCredentials = .password(
                user: SimulatedIdentity.user, password: Secret("planted-but-wrong"))
            try await IdentityProviderConformance.check { [settings] in
                IdentityProviderConformance.Subject(
                    http: CurlHTTPClient(CurlConfiguration()), right: { the.right }, wrong: wrong,
                    secrets: [SimulatedIdentity.password, "planted-but-wrong"]
                        + [settings.clientSecret?.revealString()].compactMap(\.self)
                ) { http, clock in
                    try ProviderRegistry.builtIn.provider(
                        the.id, settings: settings, tools: RainKitTools().providerTools(http: http, clock: clock))
                }
            }
        }
    }
}
