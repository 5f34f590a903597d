// SPDX-License-Identifier: Apache-2.0
import RainCore
import RainCrypto
import RainCryptoOpenSSL
import RainJSON
import TestSupport
import Testing

@testable import CloudSimulator

@Suite struct TokenTests {
    private static func issuer() throws -> (TokenIssuer, PrivateKey) {
        let key = try PrivateKey(generating: .p256)
        return (
            TokenIssuer(signer: try JSONWebTokenSigner(key: key), lifetime: .seconds(60), issuer: "https://x.invalid"),
            key
        )
    }

    private static func session(of user: User) -> Session { Session(id: makeUUID(), userID: user.id, startedAt: 0) }

    @Test(
        "no payload holds - or _, which the official client cannot decode",
        arguments: [
            "dev@example.com", "ÄÖÜ>>>???~~~@example.com", "人\u{1F600}", "???", ">>>>", "~~~~", "\u{7F}\u{7F}\u{7F}",
        ])
    func payloadAlphabet(name: String) throws {
        let (issuer, _) = try Self.issuer()
        let user = User(id: makeUUID(), userName: name, password: StoredPassword("x"))
        for padding in ["", "a", "ab", "abc"] {
            var user = user
            user.userName += padding
            let tokens = try issuer.issue(for: user, in: Self.session(of: user), at: 0)
            for token in [tokens.id, tokens.access] {
                let payload = token.split(separator: ".")[1]
                #expect(!payload.contains("-") && !payload.contains("_"))
                let claims = try JSONValue(parsing: try #require(Base64.urlDecoded(payload.utf8)))
                #expect(claims["sub"]?.string == user.id)
            }
            let claims = try JSONValue(
                parsing: try #require(Base64.urlDecoded(tokens.id.split(separator: ".")[1].utf8)))
            #expect(claims["email"]?.string == user.userName)
            #expect(claims["custom:user_id"]?.string == user.id)
        }
    }

    @Test("only an access token of this key that has not expired is accepted")
    func verification() throws {
        let (issuer, _) = try Self.issuer()
        let (other, _) = try Self.issuer()
        let user = User(id: makeUUID(), userName: "a@b.c", password: StoredPassword("x"))
        let session = Self.session(of: user)
        let tokens = try issuer.issue(for: user, in: session, at: 1_000_000)
        #expect(issuer.access(tokens.access, at: 1_000_000)?.sessionID == session.id)
        #expect(issuer.access(tokens.access, at: 1_059_999)?.userID == user.id)
        #expect(issuer.access(tokens.access, at: 1_060_000) == nil, "it expires after 60 s")
        #expect(issuer.access(tokens.id, at: 1_000_000) == nil, "an ID token is not an access token")
        #expect(other.access(tokens.access, at: 1_000_000) == nil, "another key")
    }

    @Test("a token that was changed anywhere is refused")
    func everyChange() throws {
        let (issuer, _) = try Self.issuer()
        let user = User(id: makeUUID(), userName: "a@b.c", password: StoredPassword("x"))
        let token = Array(try issuer.issue(for: user, in: Self.session(of: user), at: 0).access.utf8)
        for index in token.indices {
            var changed = token
            changed[index] = changed[index] == UInt8(ascii: "A") ? UInt8(ascii: "B") : UInt8(ascii: "A")
            #expect(issuer.access(String(decoding: changed, as: UTF8.self), at: 0) == nil, "at \(index)")
        }
        for length in token.indices {
            #expect(issuer.access(String(decoding: token[..<length], as: UTF8.self), at: 0) == nil)
        }
    }

    @Test("a password is kept as a hash that only it matches")
    func passwords() throws {
        let hash = StoredPassword("Passw0rd")
        #expect(hash.matches("Passw0rd"))
        for wrong in ["", "passw0rd", "Passw0rd ", "Passw0r"] { #expect(!hash.matches(wrong)) }
        #expect(hash != StoredPassword("Passw0rd"), "salted")
        #expect(!String(decoding: try JSONCoder.encode(hash), as: UTF8.self).contains("Passw0rd"))
    }
}
