// SPDX-License-Identifier: Apache-2.0
import TestSupport
import IdentityProviders
import RainAccount
import RainCore
import RainHTTP
import RainKitTesting
import Testing

@Suite("A server that repeats the request")
struct RequestSecretsTests {
    @Test(
        "the values of headers that carry credentials are cut from the error",
        arguments: [
            ("Authorization", "Bearer planted-1", "planted-1"),
            ("Proxy-Authorization", "Basic cGxhbnRlZDpwbGFudGVk", "cGxhbnRlZDpwbGFudGVk"),
            ("proxy-authorization", "Digest response=\"planted-2\"", "planted-2"),
            ("Cookie", "session=planted-3", "planted-3"), ("X-CSRF-Token", "planted-4", "planted-4"),
        ])
    func headers(name: String, value: String, secret: String) async throws {
        let bench = try ProviderBench("")
        let escaped = value.replacing("\"", with: "\\\"")
        bench.http.expect(
            .get, "/me", status: 407, #"{"error":"refused","error_description":"no entry with \#(escaped) here"}"#)
        let request = HTTPRequest(
            method: .get, url: "http://127.0.0.1:1/me", headers: [HTTPHeader(name, value)])
        let error = try #require(
            await accountError { () throws(AccountError) in try await bench.provider.exchange(request) })
        #expect(error.serverMessage == "no entry with … here")
        #expect(!"\(error) \(String(reflecting: error))".contains(secret))
    }

    @Test("a secret is cut whatever follows it, and also if the text was shortened in its middle")
    func edges() async throws {
        let token = "planted-token-of-some-length"
        for (words, shown) in [
            ("\(token)\u{301} is unknown", "…\u{301} is unknown"), ("\(token)\(token)", "……"), (token, "…"),
            (String(repeating: "x", count: 290) + token, String(repeating: "x", count: 290) + "…"),
            (String(repeating: "x", count: 297) + token, String(repeating: "x", count: 297) + "pla…"),
            (String(repeating: "x", count: 300) + token, String(repeating: "x", count: 300) + "…"),
        ] {
            let bench = try ProviderBench("")
            bench.http.expect(.get, "/me", status: 407, #"{"error":"refused","error_description":"\#(words)"}"#)
            let request = HTTPRequest(
                method: .get, url: "http://127.0.0.1:1/me", headers: [HTTPHeader("Authorization", "Bearer \(token)")])
            let error = try #require(
                await accountError { () throws(AccountError) in try await bench.provider.exchange(request) })
            #expect(error.serverMessage == shown)
        }
    }

    @Test("a secret in place of an error's name is cut in the middle of our own sentence too")
    func names() async throws {
        let token = "planted-" + String(repeating: "x", count: 600)
        let bench = try ProviderBench("")
        bench.http.expect(.get, "/me", status: 400, #"{"error":"\#(token)"}"#)
        let request = HTTPRequest(
            method: .get, url: "http://127.0.0.1:1/me", headers: [HTTPHeader("Authorization", "Bearer \(token)")])
        let error = try #require(
            await accountError { () throws(AccountError) in try await bench.provider.exchange(request) })
        #expect(error.message.contains("(HTTP 400) (…)"), "\(error.message)")
        #expect(!"\(error) \(String(reflecting: error))".contains("planted"))
    }

    @Test(
        "a password that is a word of our own sentence is cut from the server's text, but not from ours",
        arguments: ["wrong", "password", "description"])
    func ownWords(password: String) async throws {
        let bench = try Bench()
        bench.http.expect(
            .post, "/v1/login2", status: 400,
            #"{"status":"failure","error_code":101009,"description":"\#(password)! is not right"}"#)
        let error = await accountError { () throws(AccountError) in
            try await bench.session.signIn(.password(user: "dev@example.com", password: Secret(password)))
        }
        #expect(error?.code == .invalidCredentials)
        #expect(error?.message == "user name or password is wrong")
        #expect(error?.serverMessage == "…! is not right")
        #expect(error?.account == "dev@example.com")
    }

    @Test("a token in place of an error's name is cut from our sentence, also if the name decides its meaning")
    func meaning() async throws {
        let bench = try ProviderBench("")
        bench.http.expect(.get, "/me", status: 400, #"{"error":"unauthorized_client"}"#)
        let request = HTTPRequest(
            method: .get, url: "http://127.0.0.1:1/me",
            headers: [HTTPHeader("Authorization", "Bearer unauthorized_client")])
        let error = try #require(
            await accountError { () throws(AccountError) in try await bench.provider.exchange(request) })
        #expect(error.code == .clientRefused)
        #expect(error.message.contains("to sign in this way (…)"), "\(error.message)")
    }

    @Test("both spellings of an accent are cut")
    func accents() async throws {
        let bench = try ProviderBench("")
        let words = "Zoe\u{308}-planted or Zo\u{EB}-planted"
        bench.http.expect(.post, "/me", status: 400, #"{"error":"refused","error_description":"\#(words)"}"#)
        let request = HTTPRequest(
            method: .post, url: "http://127.0.0.1:1/me",
            headers: [HTTPHeader("Content-Type", "application/json")],
            body: Array(#"{"password":"Zoe\#u{308}-planted","new_password":"Zo\#u{EB}-planted"}"#.utf8))
        let error = try #require(
            await accountError { () throws(AccountError) in try await bench.provider.exchange(request) })
        #expect(error.serverMessage == "… or …")
    }
}
