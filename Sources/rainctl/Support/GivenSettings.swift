// SPDX-License-Identifier: Apache-2.0
import RainCore
import RainKit

/// The values that this command took from the environment and from settings files instead of its arguments. An error about such a value
/// names its origin, because the user may not know it.
struct GivenSettings: Sendable, Equatable {
    struct Account: Sendable, Equatable {
        var name: String
        /// The variable or the file.
        var place: String
    }

    var account: Account?
    /// The identity provider in `RAINKIT_PROVIDER`.
    var provider: String?
    /// The variable with the password.
    var passwordVariable: String?
    /// The variable with the client secret.
    var clientSecretVariable: String?

    static var ofThisCommand: GivenSettings { Invocation.current.settings }

    /// Records the values of the context.
    static func note(_ context: Context) {
        let run = Invocation.current
        let named = ProfileSettings.namedAccount(context)
        let account = named.flatMap { named in
            named.origin.place.map { Account(name: named.name, place: $0) }
        }
        let provider = run.hasProviderFromVariable ? run.provider?.name : nil
        run.note {
            $0.account = account
            $0.provider = provider
        }
    }

    /// Returns the message of an error, with the origin of the value that it is about.
    func message(of error: AccountError) -> String {
        switch error.code {
        case .notSignedIn:
            if let account, error.account == account.name {
                return "\(error.message) (the account is from \(account.place))"
            }
            if let provider { return "\(error.message) (the provider \(provider.onOneLine) is from RAINKIT_PROVIDER)" }
        case .unknownProvider:
            if let provider { return "\(error.message) (the provider \(provider.onOneLine) is from RAINKIT_PROVIDER)" }
        case .invalidCredentials:
            if let passwordVariable { return "\(error.message) (the password is from \(passwordVariable))" }
        case .clientRefused where error.serverCause != "unauthorized_client":
            if let clientSecretVariable {
                return "\(error.message) (the client secret is from \(clientSecretVariable))"
            }
        default: break
        }
        return error.message
    }
}
