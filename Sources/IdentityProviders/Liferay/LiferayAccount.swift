// SPDX-License-Identifier: Apache-2.0
import RainAccount
import RainHTTP
import RainJSON

/// A portal's JSON web services in a user's name.
public struct LiferayAccount: Sendable {
    private let session: AccountSession
    private let provider: ConfiguredProvider

    /// - Throws: `unsupported` for a provider that is no Liferay portal.
    public init(_ session: AccountSession, _ provider: ConfiguredProvider) throws(AccountError) {
        guard provider.hooks is LiferayExtension else {
            throw AccountError(.unsupported, message: "\(provider.title) is not a Liferay portal")
        }
        self.session = session
        self.provider = provider
    }

    /// Calls a service, such as `/user/get-current-user`.
    ///
    /// A portal answers strangers with status 200 and an exception. Then the session is renewed and the call made once more.
    /// - Throws: ``AccountError`` with the exception's class in ``AccountError/serverCause``.
    public func invoke(_ service: String, _ parameters: [JSONValue.Member] = []) async throws(AccountError) -> JSONValue
    {
        let settings = try LiferaySettings(provider)
        let request = LiferayCommand.request([LiferayCommand(service, parameters)], settings)
        return try await session.send(request) { response throws(AccountError) in
            try LiferayReply.values(response, count: 1, from: settings.server.authority)[0]
        }
    }
}
