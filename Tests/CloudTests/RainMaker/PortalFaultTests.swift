// SPDX-License-Identifier: Apache-2.0
import RainAccount
import RainCore
import RainHTTP
import RainKitTesting
import RainMaker
import TestSupport
import Testing

/// Answers of portals, firewalls and other services instead of the service. The reasons `sign_in_page` and `legal_block` are for these.
@Suite("Answers that are not the service's")
struct PortalFaultTests {
    struct Fault: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var status = 200
        var headers: [HTTPHeader] = []
        var body = ""
        var code: AccountError.Code
        var says: String
    }

    static let faults: [Fault] = [
        Fault(
            testDescription: "511", status: 511, body: "<html>Sign in</html>", code: .portal,
            says: "this network requires a sign-in first (HTTP 511)"),
        Fault(
            testDescription: "511 with JSON", status: 511, body: #"{"login":"https://portal.example"}"#, code: .portal,
            says: "this network requires a sign-in first (HTTP 511)"),
        Fault(
            testDescription: "451", status: 451, code: .legalBlock,
            says: "not available here for legal reasons (HTTP 451)"),
        Fault(
            testDescription: "451 with JSON", status: 451, body: #"{"message":"blocked"}"#, code: .legalBlock,
            says: "not available here for legal reasons (HTTP 451)"),
        Fault(
            testDescription: "410", status: 410, body: "gone", code: .moved,
            says: "no longer offers a service at this address (HTTP 410)"),
        Fault(
            testDescription: "410 with a page", status: 410, body: "<html></html>", code: .moved,
            says: "no longer offers a service at this address (HTTP 410)"),
        Fault(
            testDescription: "gzip", headers: [HTTPHeader("Content-Encoding", "gzip")], body: "\u{1F}\u{8B}\u{8}",
            code: .malformedAnswer, says: "in an encoding that was not requested (Content-Encoding: gzip)"),
        Fault(
            testDescription: "br", headers: [HTTPHeader("content-encoding", "BR")], body: "xx", code: .malformedAnswer,
            says: "in an encoding that was not requested (Content-Encoding: br)"),
        Fault(
            testDescription: "a firewall's page", status: 403,
            body: "<!DOCTYPE html><HTML><head><TITLE>\n Web Page\tBlocked! </TITLE></head></html>",
            code: .malformedAnswer,
            says: "a web page \"Web Page Blocked!\" instead of JSON (HTTP 403), which a firewall or proxy"),
        Fault(
            testDescription: "a firewall's page without a title", status: 403, body: "  <html>no</html>",
            code: .malformedAnswer, says: "a web page instead of JSON (HTTP 403), which a firewall or proxy"),
        Fault(
            testDescription: "a page of success", body: "\u{FEFF}<html><title>Hotel</title></html>",
            code: .malformedAnswer,
            says:
                "a web page \"Hotel\" instead of JSON (HTTP 200): this network's sign-in page or a proxy may have answered, or the base URL"
        ),
        Fault(
            testDescription: "a web server's page for no such address", status: 404,
            body: "<html><title>404 Not Found</title></html>", code: .invalidConfiguration,
            says: "has no RainMaker API at this base URL"),
        Fault(
            testDescription: "a title that never ends", body: "<html><title>Hotel", code: .malformedAnswer,
            says: "a web page instead of JSON (HTTP 200): this network's sign-in page"),
        Fault(
            testDescription: "a page of a fault", status: 502, body: "<html><title>502</title></html>",
            code: .serverFault,
            says: "HTTP 502 and no readable JSON"),
        Fault(
            testDescription: "text", body: "hello", code: .malformedAnswer,
            says: "with plain text instead of JSON (HTTP 200): another server may use this address"),
        Fault(
            testDescription: "nginx on an HTTPS port", status: 400,
            body: "<html><head><title>400 The plain HTTP request was sent to HTTPS port</title></head></html>",
            code: .invalidConfiguration, says: "expects TLS on that port"),
        Fault(
            testDescription: "Go on an HTTPS port", status: 400,
            body: "Client sent an HTTP request to an HTTPS server.\n",
            code: .invalidConfiguration, says: "write https:// in the base URL"),
        Fault(
            testDescription: "a server in front, with a page", status: 401,
            headers: [HTTPHeader("WWW-Authenticate", "Basic realm=staging")], body: "<html>401</html>",
            code: .malformedAnswer,
            says: #"a server in front of 127.0.0.1:1 ("staging") asks for its own name and password (HTTP 401)"#),
        Fault(
            testDescription: "a server in front, without a body", status: 401,
            headers: [HTTPHeader("www-authenticate", #"Basic realm="front door", charset="UTF-8""#)],
            code: .malformedAnswer, says: #"("front door") asks for its own name and password (HTTP 401)"#),
        Fault(
            testDescription: "a service that asks for a token", status: 401,
            headers: [HTTPHeader("WWW-Authenticate", "Bearer")], code: .malformedAnswer,
            says: "127.0.0.1:1, or a gateway before it, refused the request (HTTP 401)"),
        Fault(
            testDescription: "too many requests, with a page", status: 429,
            body: "<html><title>error 1015</title></html>",
            code: .rateLimited, says: "received too many requests"),
        Fault(
            testDescription: "too many requests, without a body", status: 429, code: .rateLimited,
            says: "received too many requests"),
        Fault(
            testDescription: "403 without a body", status: 403, code: .malformedAnswer,
            says: "127.0.0.1:1, or a gateway before it, refused the request (HTTP 403)"),
        Fault(
            testDescription: "404 without a body", status: 404, code: .invalidConfiguration,
            says: "has no RainMaker API at this base URL"),
        Fault(
            testDescription: "426", status: 426, code: .malformedAnswer,
            says: "requires another protocol (HTTP 426), perhaps https://"),
        Fault(
            testDescription: "302 to the same host", status: 302, headers: [HTTPHeader("Location", "/login?x=planted")],
            code: .malformedAnswer,
            says:
                "127.0.0.1:1 redirects to /login on the same host (HTTP 302), so the base URL probably belongs to a web"
        ),
        Fault(
            testDescription: "301 to the same host, with a page", status: 301, headers: [HTTPHeader("Location", "/")],
            body: "<html>Moved</html>", code: .moved, says: "redirects to / on the same host (HTTP 301)"),
        Fault(
            testDescription: "307 to the same host, with its name", status: 307,
            headers: [HTTPHeader("Location", "http://127.0.0.1:1/login")], code: .malformedAnswer,
            says: "redirects to http://127.0.0.1:1/login on the same host (HTTP 307)"),
        Fault(
            testDescription: "301 to the first page of the same host", status: 301,
            headers: [HTTPHeader("Location", "http://127.0.0.1:1/")], code: .moved, says: "on the same host (HTTP 301)"),
        Fault(
            testDescription: "301 to another path of the same host", status: 301,
            headers: [HTTPHeader("Location", "http://127.0.0.1:1/api/v1/user2")], code: .moved,
            says: "has moved to http://127.0.0.1:1/api/v1/user2 (HTTP 301)"),
        Fault(
            testDescription: "307 to another host", status: 307,
            headers: [HTTPHeader("Location", "https://sso.company.example/login?x=planted")], code: .malformedAnswer,
            says: "a redirect to https://sso.company.example/login (HTTP 307) came instead"),
        Fault(
            testDescription: "302 without an address", status: 302, code: .malformedAnswer,
            says: "was not reached: a redirect (HTTP 302) came instead"),
        Fault(
            testDescription: "a list", body: "[1,2]", code: .malformedAnswer,
            says: "answered with JSON that is not from a RainMaker cloud"),
        Fault(
            testDescription: "another service: 404", status: 404,
            body: #"{"message":"Not Found","documentation_url":"https://docs.example"}"#, code: .invalidConfiguration,
            says: "has no RainMaker API at this base URL"),
        Fault(
            testDescription: "another service: 405", status: 405, body: #"{"detail2":"Method Not Allowed"}"#,
            code: .invalidConfiguration, says: "has no RainMaker API at this base URL"),
    ]

    @Test("are named in the first sentence", arguments: faults)
    func fault(_ fault: Fault) async throws {
        let bench = try Bench()
        // If a cloud does not have a call, it is sent by its first name too.
        for path in [404, 405].contains(fault.status) ? ["/v1/user2", "/v1/user"] : ["/v1/user2"] {
            bench.http.expect(.post, path) { _ in
                HTTPResponse(status: fault.status, headers: fault.headers, body: Array(fault.body.utf8))
            }
        }
        let error = try #require(
            await accountError { () throws(AccountError) in
                try await bench.account.confirmSignUp("dev@example.com", code: Secret("123456"))
            })
        #expect(error.code == fault.code, "\(error)")
        #expect(error.message.contains(fault.says), "\(error)")
        #expect(!error.message.contains("planted"), "\(error)")
        #expect(!error.isRefusal)
    }

    @Test(
        "an address that has moved is named, without what may be a secret in it",
        arguments: [
            (
                "https://me:planted@new.example/v1/user2?token=planted#planted",
                " to https://…@new.example/v1/user2 (HTTP 308)"
            ),
            ("/v1/other?token=planted", "redirects to /v1/other on the same host (HTTP 308)"),
            ("//new.example/v1?token=planted", "has moved (HTTP 308)"), ("javascript:planted", "has moved (HTTP 308)"),
        ])
    func moved(location: String, says: String) async throws {
        let bench = try Bench()
        bench.http.expect(.post, "/v1/user2") { _ in
            HTTPResponse(status: 308, headers: [HTTPHeader("Location", location)])
        }
        let error = try #require(
            await accountError { () throws(AccountError) in
                try await bench.account.confirmSignUp("dev@example.com", code: Secret("123456"))
            })
        #expect(error.code == .moved)
        #expect(error.message.contains(says) && !error.message.contains("planted"), "\(error)")
    }

    @Test("an answer that began and was not complete in time is not called silence")
    func incomplete() {
        let begun = HTTPError(.timeout, host: "api.example", message: "", receivedBytes: true)
        #expect(
            AccountError(begun).message == "the answer of api.example began, but was not complete in time; try again")
        let silent = HTTPError(.timeout, host: "api.example", message: "")
        #expect(AccountError(silent).message == "api.example did not answer in time; try again")
    }

    @Test("have these reasons", arguments: [(AccountError.Code.portal, "sign_in_page"), (.legalBlock, "legal_block")])
    func reasons(code: AccountError.Code, reason: String) {
        #expect(code.description == reason)
        #expect(AccountError.Code(reason: reason) == code)
    }

    @Test("another service is named if the answer lacks a member that the cloud always sends")
    func foreignJSON() async throws {
        let bench = try Bench()
        bench.http.expect(.post, "/v1/login2", #"{"portal":"sign in","ok":true}"#)
        let error = try #require(
            await accountError { () throws(AccountError) in
                _ = try await bench.session.signIn(
                    .password(user: "dev@example.com", password: Secret("planted-password")))
            })
        #expect(error.code == .malformedAnswer)
        #expect(error.message.contains("with JSON that is not from a RainMaker cloud"), "\(error)")
        #expect(error.message.contains("The base URL may belong to another service"), "\(error)")
    }
}
