// SPDX-License-Identifier: Apache-2.0
import RainKit
import Testing

@testable import rainctl

@Suite("What is said at an identity provider names its own commands")
struct ProviderAdviceTests {
    @Test("no RainMaker command is advised to the users of another provider")
    func codes() throws {
        let spid = try #require(NamedProvider(arguments: ["whoami", "--provider=spid"], variable: nil))
        #expect(CommandFailure.nextCommand(after: .unverifiedUser, at: spid) == "account providers spid")
        #expect(CommandFailure.nextCommand(after: .passwordResetRequired, at: spid) == "account providers spid")
        let liferay = try #require(NamedProvider(arguments: [], variable: "liferay"))
        #expect(CommandFailure.nextCommand(after: .unverifiedUser, at: liferay) == nil, "it has no page for that")
        #expect(CommandFailure.nextCommand(after: .passwordResetRequired, at: liferay) == "account providers liferay")
        #expect(CommandFailure.nextCommand(after: .challengeExpired, at: spid) == nil)
        #expect(CommandFailure.nextCommand(after: .notForGuests, at: spid) == nil)
        #expect(CommandFailure.nextCommand(after: .unverifiedUser, at: nil) == "account confirm USER")
        let user = "new@example.com"
        #expect(CommandFailure.nextCommand(after: .unverifiedUser, of: user, at: nil) == "account confirm \(user)")
        #expect(CommandFailure.nextCommand(after: .expired, of: user, at: spid) == "login --provider spid")
    }

    @Test(
        "the option counts before the variable, and RainMaker is no other provider",
        arguments: [
            (["whoami"], nil, nil), (["whoami"], "spid", "spid"), (["whoami", "--provider", "oclc"], "spid", "oclc"),
            (["whoami", "--provider", "rainmaker"], "spid", nil), (["x", "--", "--provider", "oclc"], nil, nil),
            (["x", "--provider"], nil, nil), (["x"], "", nil),
        ] as [([String], String?, String?)])
    func named(arguments: [String], variable: String?, name: String?) {
        #expect(NamedProvider(arguments: arguments, variable: variable)?.name == name)
    }
}
