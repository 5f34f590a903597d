// SPDX-License-Identifier: Apache-2.0
import RainAccount
import RainCore
import RainHTTP
import RainKitTesting
import RainMaker
import Testing
import TestSupport

/// A board runs the firmware that it gets from there.
@Suite("Addresses of images")
struct ImageAddressTests {
    private func upload(_ address: String, base: String) async throws -> AccountError? {
        let http = ScriptedHTTPClient()
        let deployment = try Deployment(name: "sim", base: base)
        let saved = SavedSession(
            provider: "rainmaker", userID: UserID("user-1"), userName: "dev@example.com",
            tokens: Tokens(access: Secret("planted-access"), received: UnixTime(seconds: 0)),
            context: ["base_url": base, "claim_url": ""])
        let store = InMemoryCredentialStore([try CredentialKey("sim"): saved])
        let session = try AccountSession.rainMaker(
            deployment, http: http, store: store, clock: ManualWallClock(), timer: ManualClock())
        http.expect(.post, "/v1/user/otaimage", #"{"status":"success","image_url":"\#(address)"}"#)
        let cloud = RainMakerCloud(deployment, session: session, http: http)
        return await accountError { () async throws(AccountError) in
            try await cloud.uploadImage([1, 2, 3], name: "a.bin")
        }
    }

    private static let cloud = "https://api.example"
    private static let local = "http://127.0.0.1:1"

    @Test(
        "https is sent to boards",
        arguments: [
            "https://x/y", "HTTPS://bucket.s3.amazonaws.com/a%20b/c.bin?X-Amz-Signature=ab%2Fc&x=1",
            "https://[2001:db8::1]:8443/a",
            "https://192.168.1.5/a.bin",
        ])
    func secure(address: String) async throws {
        #expect(try await upload(address, base: Self.cloud) == nil)
        #expect(try await upload(address, base: Self.local) == nil)
    }

    @Test(
        "nothing else is",
        arguments: [
            "http://x/y", "http://127.0.0.1:80/y", "HTTP://x/y", "file:///etc/passwd", "javascript:alert(1)",
            "data:application/octet-stream;base64,6Q==", "ftp://x/y", "//x/y", "x/y", "https:", "https://",
            "https:///y",
            "https:/x/y", "https://user@x/y", "https://user:pw@x/y", "https://x:0/y", "https://x y/z", "https://x/y#z",
            "https://x\\\\@y/z", "https://x/\\u0007", "https://x/\\u202e", " https://x/y", "wss://x/y",
        ])
    func others(address: String) async throws {
        let error = try await upload(address, base: Self.cloud)
        #expect(error?.code == .insecureURL, "\(error as Any)")
        #expect(error?.message.contains("not an https URL") == true && error?.message.contains("api.example") == true)
    }

    @Test(
        "a cloud on this machine may have plain http, to this machine",
        arguments: [("http://127.0.0.1:8080/y", true), ("http://localhost/y", true), ("http://192.168.1.5/y", false)])
    func local(address: String, isTaken: Bool) async throws {
        #expect((try await upload(address, base: Self.local) == nil) == isTaken)
    }
}
