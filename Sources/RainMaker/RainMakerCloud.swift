import Account
import HTTPCore
import JSON

/// The RainMaker cloud beyond sign-in, in the name of the user whom an ``Account/AccountSession`` has signed in.
///
/// Every call throws ``Account/AccountError`` and takes at most some ten seconds; a call whose token was rejected renews the
/// session and is made once more.
public struct RainMakerCloud: Sendable {
    private let deployment: Deployment
    private let session: AccountSession
    private let http: any HTTPClient

    /// - Parameter session: one at the same deployment; another's tokens are refused before anything is sent.
    public init(_ deployment: Deployment, session: AccountSession, http: any HTTPClient) {
        self.deployment = deployment
        self.session = session
        self.http = http
    }

    /// In the user's name.
    func call(_ call: RainMakerCall) async throws(AccountError) -> JSONValue {
        try RainMakerReply.value(
            try await session.send(call.request(to: deployment)), from: deployment.base.authority)
    }

    /// In nobody's.
    func callAnonymously(_ call: RainMakerCall) async throws(AccountError) -> JSONValue {
        let response: HTTPResponse
        do throws(HTTPError) {
            response = try await http.send(call.request(to: deployment))
        } catch {
            throw AccountError(error)
        }
        return try RainMakerReply.value(response, from: deployment.base.authority)
    }

    func incomplete(_ member: String) -> AccountError {
        AccountError(
            .malformedAnswer,
            message: "\(deployment.base.authority) answered without \(member), which the RainMaker cloud always sends")
    }
}
