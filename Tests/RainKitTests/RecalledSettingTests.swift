// SPDX-License-Identifier: Apache-2.0
import IdentityProviders
import RainAccount
import RainCore
import RainKit
import Testing

@Suite("Settings of an earlier sign-in")
struct RecalledSettingTests {
    private func settings(_ parameters: [String: String]?, base: String? = nil) -> RememberedProviders.Settings {
        var settings = RememberedProviders.Settings(provider: "liferay")
        settings.parameters = parameters
        settings.base = base
        return settings
    }

    private func liferay() throws -> ProviderDefinition { try ProviderRegistry.builtIn.entry("liferay").definition }

    static let updates: [(before: [String: String], given: [String: String], after: [String: String])] = [
        (["loginBy": "screenName"], [:], ["loginBy": "screenName"]),
        (["loginBy": "screenName"], ["loginBy": "email"], ["loginBy": "email"]),
        (["loginBy": "screenName", "companyId": "1"], ["loginBy": ""], ["companyId": "1"]),
        ([:], ["loginBy": ""], [:]),
    ]

    @Test("are kept, replaced, or removed if an empty text is given", arguments: updates)
    func update(before: [String: String], given: [String: String], after: [String: String]) throws {
        var settings = settings(before)
        #expect(try !settings.update(with: self.settings(given), for: liferay()))
        #expect(settings.parameters == after)
    }

    @Test("are listed, except for those that are given now")
    func recalled() {
        let remembered = settings(
            ["loginBy": "screenName", "contextCompanyId": "20000"], base: "https://portal.example")
        #expect(
            remembered.recalled(beside: settings(nil)).map { "\($0.name)=\($0.value)" }
                == ["base URL=https://portal.example", "contextCompanyId=20000", "loginBy=screenName"])
        let given = settings(["loginBy": "email"], base: "https://portal.example")
        #expect(remembered.recalled(beside: given).map(\.name) == ["contextCompanyId"])
    }

    @Test(
        "are listed in errors that a setting can cause, and in no others",
        arguments: [
            (AccountError.Code.invalidCredentials, true), (.wrongContext, true), (.invalidConfiguration, true),
            (.unsupported, true), (.network, false), (.cancelled, false), (.serverFault, false), (.cannotStore, false),
        ])
    func errors(code: AccountError.Code, isNamed: Bool) {
        let error = AccountError(code, message: "no").recalling([
            RecalledSetting(name: "base URL", value: "https://a.example"),
            RecalledSetting(name: "loginBy", value: "screen\u{1B}Name", isParameter: true),
        ])
        #expect(error.message.contains("loginBy=screen Name") == isNamed && error.message.hasPrefix("no"))
        #expect(error.remedies == (isNamed ? [.rememberedSettings(["loginBy"])] : []))
        #expect(AccountError(code, message: "no").recalling([]).message == "no")
    }
}
