// SPDX-License-Identifier: Apache-2.0
import RainKit
import Testing

@testable import rainctl

@Suite("Settings that an error is about")
struct GivenSettingsTests {
    private let given = GivenSettings(
        account: .init(name: "cyd@example.com", place: "/p/.rainkit.json"), passwordVariable: "ESP_RAINMAKER_PASSWORD")

    private func error(_ code: AccountError.Code, of account: String? = nil) -> AccountError {
        var error = AccountError(code, message: "nobody is signed in to X; sign in first")
        error.account = account
        return error
    }

    @Test("the file or variable that names the account is in the message")
    func account() {
        let failure = CommandFailure(error(.notSignedIn, of: "cyd@example.com"), given: given)
        #expect(
            failure.message.hasPrefix(
                "Nobody is signed in to X; sign in first (the account is from /p/.rainkit.json)."),
            "\(failure.message)")
        // Of another account than the one that is named.
        let other = CommandFailure(error(.notSignedIn, of: "bob@example.com"), given: given)
        #expect(other.message.hasPrefix("Nobody is signed in"), "\(other.message)")
        let plain = CommandFailure(error(.notSignedIn, of: "cyd@example.com"), given: GivenSettings())
        #expect(plain.message.hasPrefix("Nobody is signed in"), "\(plain.message)")
    }

    @Test(
        "the variable that names the provider is in the message",
        arguments: [AccountError.Code.notSignedIn, .unknownProvider])
    func provider(code: AccountError.Code) {
        let failure = CommandFailure(error(code), given: GivenSettings(provider: "spid"))
        #expect(
            failure.message.hasPrefix(
                "Nobody is signed in to X; sign in first (the provider spid is from RAINKIT_PROVIDER)."),
            "\(failure.message)")
    }

    @Test("the variable that a refused password comes from is in the message")
    func password() {
        let refused = AccountError(.invalidCredentials, message: "user name or password is wrong")
        #expect(
            CommandFailure(refused, given: given).message
                == "User name or password is wrong (the password is from ESP_RAINMAKER_PASSWORD).")
        #expect(CommandFailure(refused, given: GivenSettings()).message == "User name or password is wrong.")
        let client = AccountError(.clientRefused, message: "the server does not serve this client")
        #expect(
            CommandFailure(client, given: GivenSettings(clientSecretVariable: "RAINKIT_CLIENT_SECRET")).message
                .hasSuffix("(the client secret is from RAINKIT_CLIENT_SECRET)."))
    }
}
