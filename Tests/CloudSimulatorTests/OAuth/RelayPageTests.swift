// SPDX-License-Identifier: Apache-2.0
import RainCore
import TestSupport
import Testing

@testable import CloudSimulator

@Suite struct RelayPageTests {
    private func page(_ query: String) throws -> Response { try TestCloud().send("GET", "/welcome.html?\(query)") }

    @Test("it sends the browser to the port in the state")
    func code() throws {
        let reply = try page("code=abc-123&state=port:49152")
        #expect(reply.status == 200)
        #expect(reply.page.contains("content=\"0;url=http://localhost:49152/?code=abc-123\""))
        #expect(reply.page.contains("href=\"http://localhost:49152/?code=abc-123\""))
    }

    @Test("it hands errors on, and a state that says more than the port")
    func error() throws {
        let denied = try page("error=access_denied&error_description=No%20%26%20no&state=port%3A1")
        #expect(denied.page.contains("localhost:1/?error=access_denied&amp;error_description=No%20%26%20no\""))
        let extended = try page("code=c&state=port:1:random:x&other=y")
        #expect(extended.page.contains("localhost:1/?code=c&amp;state=port%3A1%3Arandom%3Ax\""))
    }

    @Test(
        "a state without a port leads nowhere",
        arguments: [
            "", "port:", "port:0", "port:65536", "port:-1", "port:+1", "port:1a", "port: 1", "1", "PORT:1",
            "port:1@evil.example/",
        ])
    func nowhere(state: String) throws {
        let reply = try page("code=abc&state=\(PercentEncoding.encoded(state))")
        #expect(reply.status == 400 && !reply.page.contains("http-equiv") && !reply.page.contains("abc"))
    }

    @Test("text in the address cannot break out of the page")
    func escaping() throws {
        let nasty = PercentEncoding.encoded("\"><script>alert(1)</script>")
        for query in ["code=\(nasty)&state=port:1", "code=c&state=port:1:\(nasty)", "error=\(nasty)&state=port:1"] {
            #expect(try !page(query).page.contains("<script"))
        }
    }
}
