// SPDX-License-Identifier: Apache-2.0
import RainCore

/// How a client says who it is to a token endpoint (RFC 6749, section 2.3). Servers differ, even from one grant to the next.
public enum ClientAuthentication: Sendable, Equatable {
    /// A public client: it names itself and proves nothing. That is what an installed program is.
    case none(clientID: String)
    /// Id and secret in the `Authorization` header (`client_secret_basic`).
    case basic(clientID: String, secret: Secret)
    /// Id and secret in the body (`client_secret_post`).
    case post(clientID: String, secret: Secret)
    /// By something over the whole request that its sender adds, such as an HMAC in the `Authorization` header: nothing is added here.
    case signed(clientID: String)

    /// The client's id, whatever proves it.
    public var clientID: String {
        switch self {
        case .none(let clientID), .basic(let clientID, _), .post(let clientID, _), .signed(let clientID): clientID
        }
    }

    /// The value of the `Authorization` header, where there is one: both halves are form-encoded first (section 2.3.1).
    public var authorizationHeader: Secret? {
        guard case .basic(let clientID, let secret) = self else { return nil }
        let pair =
            FormEncoding.encoded(clientID.utf8) + [UInt8(ascii: ":")] + FormEncoding.encoded(secret.revealBytes())
        return Secret("Basic ".utf8 + Base64.encoded(pair))
    }

    /// What it adds to the body.
    var fields: [TokenRequest.Field] {
        switch self {
        case .none(let clientID): [.init("client_id", clientID)]
        case .basic, .signed: []
        case .post(let clientID, let secret): [.init("client_id", clientID), .init("client_secret", secret)]
        }
    }
}
