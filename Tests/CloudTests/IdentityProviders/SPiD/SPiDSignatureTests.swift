// SPDX-License-Identifier: Apache-2.0
import RainHTTP
import RainJSON
import Testing
import RainCore

@testable import IdentityProviders
@testable import RainAccount
@testable import RainMaker

/// The signed value in SPiD's own examples (schibsted/sdk-php, `callback.php`), under the sign secret of its documentation.
enum SPiDVector {
    static let signSecret = Secret("a274de")
    static let signature = "GTUVPjN1LzdyU1qwHjnMKS2oNxckfGzXWA6WOGHVOOg"
    static let payload =
        "eyJvYmplY3QiOiJvcmRlciIsImVudHJ5IjpbeyJvcmRlcl9pZCI6IjMwMDAxNCIsImNoYW5nZWRfZmllbGRzIjoic3RhdHVzIiwidGltZSI6IjIwMTItMDktMzAgMTM6MjE6NDMifSx7Im9yZGVyX2lkIjoiMzAwMDE2IiwiY2hhbmdlZF9maWVsZHMiOiJzdGF0dXMiLCJ0aW1lIjoiMjAxMi0wOS0zMCAxMzoyMTo0MyJ9XX0"
    static func container(
        data: String = payload, sig: String = signature, algorithm: String = "HMAC-SHA256"
    ) -> JSONValue {
        [
            "name": "SPP Container", "version": "0.2", "object": "Order", "error": nil, "algorithm": .string(algorithm),
            "sig": .string(sig), "data": .string(data),
        ]
    }
}

@Suite("SPiD's signed answers")
struct SPiDSignatureTests {
    private let spid: SPiDBench

    init() throws { spid = try SPiDBench(signSecret: SPiDVector.signSecret) }

    private func open(_ container: JSONValue, with spid: SPiDBench) -> (JSONValue?, AccountError?) {
        do throws(AccountError) {
            return (try spid.read(HTTPResponse(status: 200, body: container.serialized())), nil)
        } catch {
            return (nil, error)
        }
    }

    @Test("the published container opens")
    func vector() {
        let (data, error) = open(SPiDVector.container(), with: spid)
        #expect(error == nil)
        #expect(data?["entry"]?.array?.first?["order_id"] == "300014")
    }

    @Test("one flipped bit anywhere in the signature or the data, and nothing is read")
    func flipped() {
        for index in 0..<SPiDVector.payload.utf8.count {
            var bytes = Array(SPiDVector.payload.utf8)
            bytes[index] ^= 1
            let (data, error) = open(
                SPiDVector.container(data: String(decoding: bytes, as: UTF8.self)), with: spid)
            #expect(data == nil && error?.code == .untrustedAnswer)
        }
        for index in 0..<SPiDVector.signature.utf8.count {
            var bytes = Array(SPiDVector.signature.utf8)
            bytes[index] ^= 1
            let (data, error) = open(
                SPiDVector.container(sig: String(decoding: bytes, as: UTF8.self)), with: spid)
            #expect(data == nil && error?.code == .untrustedAnswer)
        }
    }

    @Test("similar answers are refused: padding, another last digit, another algorithm, half of the form")
    func lookAlikes() {
        let containers = [
            SPiDVector.container(sig: SPiDVector.signature + "="),
            // The last digit's two low bits do not belong to the 256: another digit would encode the same bytes.
            SPiDVector.container(sig: String(SPiDVector.signature.dropLast()) + "h"),
            SPiDVector.container(algorithm: "none"), SPiDVector.container(sig: ""), SPiDVector.container(data: ""),
        ]
        for container in containers {
            let (data, error) = open(container, with: spid)
            #expect(data == nil && error?.code == .untrustedAnswer, "\(container)")
        }
    }

    @Test("another sign secret does not open it, and without one a signed answer is refused")
    func otherSecret() throws {
        for secret in [Secret("a274df"), nil] {
            let (data, error) = open(SPiDVector.container(), with: try SPiDBench(signSecret: secret))
            #expect(data == nil && error?.code == .untrustedAnswer)
        }
    }
}
