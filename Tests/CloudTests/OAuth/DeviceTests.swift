// SPDX-License-Identifier: Apache-2.0
import RainAccount
import RainCore
import RainJSON
import Testing

@Suite("Signing in on another device")
struct DeviceTests {
    private func read(_ text: String) throws -> DeviceAuthorization {
        try DeviceAuthorization(try JSONValue(parsing: Array(text.utf8)))
    }

    @Test("RFC 8628, 3.2: the example")
    func published() throws {
        let given = try read(
            """
            {"device_code": "GmRhmhcxhwAzkoEqiMEg_DnyEysNkuNhszIySk9eS", "user_code": "WDJB-MJHT",
             "verification_uri": "https://example.com/device",
             "verification_uri_complete": "https://example.com/device?user_code=WDJB-MJHT", "expires_in": 1800, "interval": 5}
            """)
        #expect(given.deviceCode == Secret("GmRhmhcxhwAzkoEqiMEg_DnyEysNkuNhszIySk9eS"))
        #expect(given.userCode == "WDJB-MJHT" && given.verificationURI == "https://example.com/device")
        #expect(given.verificationURIComplete == "https://example.com/device?user_code=WDJB-MJHT")
        #expect(given.expiresIn == 1800 && given.interval == 5)
        // RFC 8628, 3.4, the order of the client's id aside.
        #expect(
            TokenRequest.deviceCode(given.deviceCode).body(for: .none(clientID: "1406020730")).revealString()
                == "grant_type=urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Adevice_code"
                + "&device_code=GmRhmhcxhwAzkoEqiMEg_DnyEysNkuNhszIySk9eS&client_id=1406020730")
        // RFC 8628, 3.1.
        #expect(
            FormRequest.deviceAuthorization(scope: ["example_scope"]).body(for: .none(clientID: "1406020730"))
                .revealString() == "scope=example_scope&client_id=1406020730")
    }

    @Test("missing values are the RFC's defaults, and values out of bounds are bounded")
    func lenient() throws {
        let given = try read(
            #"{"device_code":"d","user_code":"u","verification_url":"http://127.0.0.1/d","expires_in":"90"}"#)
        #expect(given.interval == 5 && given.expiresIn == 90)
        let wild = try read(
            #"{"device_code":"d","user_code":"u","verification_uri":"https://x","expires_in":1e12,"interval":-7}"#)
        #expect(wild.interval == 1 && wild.expiresIn == DeviceAuthorization.longestLife)
    }

    @Test(
        "an invalid authorization is refused",
        arguments: [
            "{}", "[]", #"{"device_code":"d","user_code":"u"}"#,
            #"{"device_code":"","user_code":"u","verification_uri":"https://x"}"#,
            #"{"device_code":"d","user_code":"a\u001b[2J","verification_uri":"https://x"}"#,
            #"{"device_code":"d","user_code":"u","verification_uri":"javascript:alert(1)"}"#,
        ])
    func refused(text: String) {
        #expect(throws: OAuth2FormatError.self) { try read(text) }
    }

    @Test(
        "questions keep the server's interval, which grows by 5 s with each slow_down and doubles after each missing answer"
    )
    func pace() {
        var polling = DevicePolling(interval: 5, expiresIn: 60)
        #expect(polling.wait(at: 0) == 5)
        polling.hear(.pending)
        #expect(polling.wait(at: 5) == 5)
        polling.hear(.slowDown)
        #expect(polling.wait(at: 10) == 10)
        polling.hear(.slowDown)
        #expect(polling.wait(at: 20) == 15)
        polling.hear(.nothing(retryAfter: nil))
        #expect(polling.wait(at: 29) == 30)
        #expect(polling.wait(at: 30) == nil)
        polling.hear(.nothing(retryAfter: 1e9))
        #expect(polling.interval == DeviceAuthorization.longestInterval)
    }
}
