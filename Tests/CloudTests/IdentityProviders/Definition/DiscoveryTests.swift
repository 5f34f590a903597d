// SPDX-License-Identifier: Apache-2.0
import IdentityProviders
import RainAccount
import RainCore
import RainHTTP
import RainKitTesting
import RainMaker
import TestSupport
import Testing

@Suite("A server's metadata")
struct DiscoveryTests {
    private let password = SignInCredentials.password(user: "u", password: Secret("p"))

    private func bench() throws -> ProviderBench {
        try ProviderBench(#""discovery":"{base}/.well-known/openid-configuration","endpoints":{}"#)
    }

    private func expectMetadata(_ bench: ProviderBench, token: String) {
        let base = "http://127.0.0.1:1"
        bench.http.expect(
            .get, "/.well-known/openid-configuration",
            #"{"issuer":"\#(base)","authorization_endpoint":"\#(base)/authorize","token_endpoint":"\#(base)\#(token)"}"#
        )
    }

    @Test("is requested again after one of its endpoints has disappeared", arguments: [404, 410])
    func moved(status: Int) async throws {
        let bench = try bench()
        expectMetadata(bench, token: "/old?a=b")
        bench.http.expect(.post, "/old?a=b", status: status, "{}")
        #expect(await accountError { () throws(AccountError) in try await bench.provider.signIn(password) } != nil)
        expectMetadata(bench, token: "/new")
        bench.http.expect(.post, "/new", #"{"access_token":"a","token_type":"bearer"}"#)
        #expect(try await bench.provider.signIn(password).access == Secret("a"))
        try bench.http.finish()
    }

    @Test("is kept whatever else an endpoint answers", arguments: [400, 401, 403, 500, 503])
    func kept(status: Int) async throws {
        let bench = try bench()
        expectMetadata(bench, token: "/token")
        bench.http.expect(.post, "/token", status: status, "{}")
        #expect(await accountError { () throws(AccountError) in try await bench.provider.signIn(password) } != nil)
        bench.http.expect(.post, "/token", #"{"access_token":"a","token_type":"bearer"}"#)
        #expect(try await bench.provider.signIn(password).access == Secret("a"))
        try bench.http.finish()
    }

    @Test(
        "a server that publishes nothing is not a provider, whatever page it shows",
        arguments: ["<html><title>Not found</title></html>", "{}", #"{"message":"Not found"}"#, ""])
    func nothing(body: String) async throws {
        let bench = try bench()
        bench.http.expect(.get, "/.well-known/openid-configuration", status: 404, body)
        let error = await accountError { () throws(AccountError) in try await bench.provider.serverMetadata() }
        #expect(error?.code == .invalidConfiguration && error?.remedies == [.baseURL], "\(error as Any)")
        #expect(
            error?.message.contains("provider was found at http://127.0.0.1:1/.well-known") == true, "\(error as Any)")
    }

    @Test("that lacks an endpoint is named, with the member", arguments: ["authorize", "device"])
    func lacks(use: String) async throws {
        let bench = try bench()
        bench.http.expect(
            .get, "/.well-known/openid-configuration",
            #"{"issuer":"http://127.0.0.1:1","token_endpoint":"http://127.0.0.1:1/token"}"#)
        let error = await accountError { () throws(AccountError) in try await bench.provider.endpoint(use) }
        let member = use == "device" ? "device_authorization_endpoint" : "authorization_endpoint"
        let address = "http://127.0.0.1:1/.well-known/openid-configuration"
        #expect(error?.code == .unsupported)
        #expect(error?.message == "the description at \(address) has no \(member)", "\(error as Any)")
    }

    @Test("is kept when there is nothing at another address")
    func elsewhere() async throws {
        let bench = try bench()
        expectMetadata(bench, token: "/token")
        _ = try await bench.provider.serverMetadata()
        bench.http.expect(.get, "/gone", status: 404, "{}")
        let request = HTTPRequest(method: .get, url: "http://127.0.0.1:1/gone")
        #expect(await accountError { () throws(AccountError) in try await bench.provider.exchange(request) } != nil)
        _ = try await bench.provider.serverMetadata()
        try bench.http.finish()
    }
}
