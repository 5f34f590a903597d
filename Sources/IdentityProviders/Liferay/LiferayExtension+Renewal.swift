// SPDX-License-Identifier: Apache-2.0
import RainAccount
import RainCore

extension LiferayExtension {
    func renew(_ tokens: Tokens, _ provider: ConfiguredProvider) async throws(RenewalError) -> Tokens? {
        switch tokens.kind {
        case .basic:
            throw .refused(
                AccountError(.expired, message: "the portal does not take the password any more; sign in again"))
        case .cookie:
            guard let password = tokens.refresh, let user = tokens[Extra.user] else {
                throw .refused(
                    AccountError(
                        .expired, message: "the web session has ended, and is not to be renewed; sign in again"))
            }
            do throws(AccountError) {
                let settings = try LiferaySettings(provider)
                var gate: LiferayCookies.PreAuthorization?
                if let name = tokens[Extra.preAuthorizationHeader], let value = tokens.extras[Extra.preAuthorization] {
                    gate = .init(name: name, value: value)
                }
                return try await cookies(user: user, password: password, passing: gate, settings, provider)
            } catch {
                if Self.endsSession(error) { throw .refused(error) }
                var error = error
                // A 401 of something before the portal, which is passing.
                if error.code == .invalidCredentials { error.code = .expired }
                // An answer without a user, and without an exception.
                if error.code == .unknownUser { error.code = .malformedAnswer }
                throw .unavailable(error)
            }
        default: return nil
        }
    }

    /// Only the portal's own word ends a session, which comes as an exception of its services, or as the way to its page for those who
    /// have not confirmed their address. A status does not: something before the portal may have given it.
    static func endsSession(_ error: AccountError) -> Bool {
        guard [.invalidCredentials, .unknownUser, .unverifiedUser].contains(error.code) else { return false }
        return error.code == .unverifiedUser || error.serverCause.map(LiferayException.names.contains) ?? false
    }
}
