// SPDX-License-Identifier: Apache-2.0
import IdentityProviders
import RainAccount
import RainCore
import RainKit
import TestSupport
import Testing

@Suite("A client's secret in a variable")
struct SecretVariableTests {
    private func secret(_ text: String) throws(AccountError) -> String? {
        let settings = RememberedProviders.Settings(provider: "spid")
        return try settings.withSecrets(
            for: ProviderRegistry.builtIn.entry("spid").definition, environment: ["RAINKIT_CLIENT_SECRET": text]
        ).clientSecret?.revealString()
    }

    @Test(
        "is read by the rules of secrets in files",
        arguments: [
            ("s3", "s3"), ("s3\n", "s3"), ("s3\r\n", "s3"), ("s3\r", "s3"), ("\u{FEFF}s3", "s3"), (" s3 ", " s3 "),
            ("", nil),
        ] as [(String, String?)])
    func text(text: String, wanted: String?) throws {
        #expect(try secret(text) == wanted)
    }

    @Test("is refused if it has two lines, and the error has the variable's name")
    func lines() async {
        let error = await accountError { () throws(AccountError) in _ = try secret("s3\ns4") }
        #expect(error?.code == .storeUnreadable && error?.message.contains("RAINKIT_CLIENT_SECRET") == true)
    }
}
