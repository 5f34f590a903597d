// SPDX-License-Identifier: Apache-2.0
import TestSupport
import IdentityProviders
import RainAccount
import RainHTTP
import RainJSON
import RainKitTesting
import RainCore

/// SPiD as apps configure it. It reads answers of a test.
struct SPiDBench {
    let provider: ConfiguredProvider

    init(signSecret: Secret? = nil) throws {
        let settings = ProviderSettings(
            base: "https://spid.example", clientID: "app-1", secrets: signSecret.map { ["signSecret": $0] } ?? [:])
        provider = try ProviderRegistry.builtIn.provider(
            "spid", settings: settings, tools: ProviderBench.tools(ScriptedHTTPClient(), ManualWallClock()))
    }

    /// The content of SPiD's container.
    func read(_ response: HTTPResponse) throws(AccountError) -> JSONValue {
        try provider.read(response, of: "https://spid.example/api/2/user/1001").json
    }
}
