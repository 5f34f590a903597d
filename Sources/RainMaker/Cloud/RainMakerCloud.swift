// SPDX-License-Identifier: Apache-2.0
import RainAccount
import RainHTTP
import RainJSON

/// The RainMaker cloud beyond sign-in, in the name of the user whom an ``RainAccount/AccountSession`` has signed in.
///
/// Every call throws ``RainAccount/AccountError`` and takes at most some ten seconds; a call whose token was rejected renews the
/// session and is made once more.
public struct RainMakerCloud: Sendable {
    private let service: RainMakerService
    private let session: AccountSession

    /// - Parameter session: one at the same deployment; another's tokens are refused before anything is sent.
    public init(_ deployment: Deployment, session: AccountSession, http: any HTTPClient) {
        service = RainMakerService(deployment, http: http)
        self.session = session
    }

    /// In the user's name.
    @discardableResult
    func call(_ call: RainMakerCall) async throws(AccountError) -> JSONValue {
        try await service.call(call, in: session)
    }

    /// The same, with the cloud's own time.
    func datedCall(_ call: RainMakerCall) async throws(AccountError) -> (reply: JSONValue, date: UnixTime?) {
        try await service.datedCall(call, in: session)
    }

    /// In the user's name, with the size of the answer in bytes.
    func measuredCall(_ call: RainMakerCall) async throws(AccountError) -> (reply: JSONValue, bytes: Int) {
        try await service.measuredCall(call, in: session)
    }

    /// In the user's name, for the calls that answer with a list: 200, or 207 where some of what was asked for has failed.
    func listCall(_ call: RainMakerCall) async throws(AccountError) -> [JSONValue] {
        try await service.listCall(call, in: session)
    }

    /// In nobody's.
    func callAnonymously(_ call: RainMakerCall) async throws(AccountError) -> JSONValue {
        try await service.call(call)
    }

    var deployment: Deployment { service.deployment }

    /// Whether a name is that of the signed-in user. Names are e-mail addresses or telephone numbers, so their case does not matter.
    func isOwn(_ userName: String) async -> Bool {
        let own: String
        do throws(AccountError) { own = try await session.userName() } catch { return false }
        return own.lowercased() == userName.lowercased()
    }

    func incomplete(_ member: String, in reply: JSONValue? = nil) -> AccountError {
        service.incomplete(member, in: reply)
    }
}
