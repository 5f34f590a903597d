// SPDX-License-Identifier: Apache-2.0
import IdentityProviders
import RainAccount
import RainMaker
import RainCrypto
import RainCryptoOpenSSL
import RainJSON
import RainKitTesting
import RainCore

/// One configured provider with everything that a test controls.
struct ProviderBench {
    let http = ScriptedHTTPClient()
    let clock = ManualWallClock()
    let provider: ConfiguredProvider

    var tools: ProviderTools { Self.tools(http, clock) }

    static func tools(_ http: ScriptedHTTPClient, _ clock: ManualWallClock) -> ProviderTools {
        ProviderTools(http: http, clock: clock, hashes: OpenSSLHashes.self, signatures: OpenSSLCrypto.self) { count in
            var random = OpenSSLRandom()
            return random.bytes(count)
        }
    }

    init(
        _ members: String, settings: ProviderSettings = ProviderSettings(clientID: "app-1"),
        extension hooks: any ProviderExtension = NoExtension()
    ) throws {
        let text = """
            {"schemaVersion":1,"id":"test","environments":{"production":"http://127.0.0.1:1"},
             "defaultEnvironment":"production","endpoints":{"token":"{base}/token","user":"{base}/me","revoke":"{base}/revoke"},
             "grants":{"authorizationCode":{},"password":{},"clientCredentials":{"publicClient":false},"refreshToken":{},"assertion":{}}}
            """
        let usual = try JSONValue(parsing: Array(text.utf8)).members ?? []
        let own = try JSONValue(parsing: Array("{\(members)}".utf8)).members ?? []
        let json = JSONValue.object(usual.filter { member in !own.contains { $0.name == member.name } } + own)
        provider = try ConfiguredProvider(
            definition: ProviderDefinition(json, origin: "test"), settings: settings, tools: Self.tools(http, clock),
            extension: hooks)
    }
}
