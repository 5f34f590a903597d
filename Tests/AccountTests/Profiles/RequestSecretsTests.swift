import Account
import HTTPCore
import RainKitTesting
import Testing

@Suite("A server that throws back what it was sent")
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
}
