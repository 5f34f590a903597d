// SPDX-License-Identifier: Apache-2.0
import TestSupport
import RainAccount
import RainCore
import RainHTTP
import RainJSON
import RainKitTesting
import Testing

@Suite("A renewal that returns another user's tokens")
struct OtherUserTests {
    private func renew(as user: String) async throws -> (error: AccountError?, kept: SavedSession?, old: SavedSession) {
        var saved = savedSession("a")
        saved.tokens.identity = Secret(token("id-a", ["custom:user_id": "user-1"]))
        let bench = try Bench(saved)
        let access = accessToken("b", issued: bench.clock.now.seconds)
        let identity = token("id-b", ["custom:user_id": .string(user)])
        bench.http.expect(
            .post, "/v1/login2", #"{"status":"success","idtoken":"\#(identity)","accesstoken":"\#(access)"}"#)
        let error = await accountError { () async throws(AccountError) in try await bench.session.renew() }
        return (error, try await bench.stored(), saved)
    }

    @Test("is refused at RainMaker too, and the session does not change")
    func refused() async throws {
        let (error, kept, old) = try await renew(as: "user-2")
        #expect(error?.code == .untrustedAnswer, "\(error as Any)")
        #expect(kept?.tokens == old.tokens)
    }

    @Test("is accepted if the user is the same")
    func same() async throws {
        let (error, kept, old) = try await renew(as: "user-1")
        #expect(error == nil && kept?.tokens.access != old.tokens.access)
    }
}
