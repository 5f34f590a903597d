// SPDX-License-Identifier: Apache-2.0
import RainHTTP
import Testing

@testable import ProtocommTransports

@Suite("The session cookie")
struct SessionCookieTests {
    @Test(
        "a session cookie is a 32-bit number",
        arguments: [
            ("session=1", 1), ("session=4294967295", 4_294_967_295), ("session=7; Path=/", 7), (" session = 12 ;x", 12),
            ("session=0", 0),
        ])
    func accepted(text: String, number: UInt32) { #expect(SessionCookie(setCookie: text)?.number == number) }

    @Test(
        "anything else is left alone",
        arguments: [
            "", "session", "session=", "session=;", "session=4294967296", "session=99999999999", "session=-1",
            "session=1a",
            "session=+1", "sessionid=1", "id=1; session=2", "session=1\r\nX: y", "Session=1", "session=\u{664}",
            "session=" + String(repeating: "0", count: 300),
        ])
    func refused(text: String) { #expect(SessionCookie(setCookie: text) == nil) }

    @Test("what is sent back is exactly the name and the number, within the board's buffer")
    func header() {
        let value = SessionCookie(number: .max).headerValue
        #expect(value == "session=4294967295")
        #expect(value.utf8.count < 20)
    }

    @Test("it is found among other headers, whatever their case")
    func response() {
        let response = HTTPResponse(
            status: 200,
            headers: [
                HTTPHeader("Content-Type", "text/html"), HTTPHeader("SET-COOKIE", "other=1"),
                HTTPHeader("set-cookie", "session=5"),
            ])
        #expect(SessionCookie(response)?.number == 5)
        #expect(SessionCookie(HTTPResponse(status: 200)) == nil)
    }
}
