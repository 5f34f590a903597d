// SPDX-License-Identifier: Apache-2.0
import RainAccount
import RainJSON
import RainCore

extension SavedSession {
    /// A RainMaker session from its tokens alone, as another client has kept them: the tokens say whose it is and until when. Nothing is
    /// sent.
    ///
    /// - Throws: `storeUnreadable` if they do not name a user.
    public init(rainMakerAccess access: Secret, refresh: Secret?, identity: Secret?) throws(AccountError) {
        do throws(AccountError) { try JSONWebToken.checkTimes(of: access) } catch {
            throw AccountError(.storeUnreadable, message: error.message)
        }
        let claims = JSONWebToken.claims(of: access)
        let end = claims?["exp"]?.double
        // It came when it was issued, which is hours ago perhaps: its end is the one that it states.
        let tokens = Tokens(
            access: access, refresh: refresh, identity: identity,
            received: UnixTime(seconds: claims?["iat"]?.double ?? end ?? 0),
            expires: end.map { UnixTime(seconds: $0) })
        guard let user = RainMakerIdentity.user(claimedBy: tokens), !user.userID.rawValue.isEmpty else {
            throw AccountError(
                .storeUnreadable, message: "the session's tokens do not say whose it is: sign in again",
                remedies: [.signIn])
        }
        self.init(provider: "rainmaker", userID: user.userID, userName: user.userName, tokens: tokens)
    }
}
