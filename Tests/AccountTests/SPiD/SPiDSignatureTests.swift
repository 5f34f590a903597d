import HTTPCore
import HashingOpenSSL
import JSON
import Testing
import Vocabulary

@testable import Account

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
    private let signature = SPiDSignature(signSecret: SPiDVector.signSecret, hashes: OpenSSLHashes.self)

    private func open(_ container: JSONValue, with signature: SPiDSignature?) async -> (JSONValue?, AccountError?) {
        let response = HTTPResponse(status: 200, body: container.serialized())
        do throws(AccountError) {
            return (try SPiDContainer(response, from: "spid.example", signature: signature).data, nil)
        } catch {
            return (nil, error)
        }
    }

    @Test("the published container opens")
    func vector() async throws {
        let (data, error) = await open(SPiDVector.container(), with: signature)
        #expect(error == nil)
        #expect(data?["entry"]?.array?.first?["order_id"] == "300014")
        // The same value in the form that SPiD hands to web pages.
        let token = SPiDVector.signature + "." + SPiDVector.payload
        #expect(try signature.opened(token: token) == data)
    }

    @Test("one flipped bit anywhere in the signature or the data, and nothing is read")
    func flipped() async {
        for index in 0..<SPiDVector.payload.utf8.count {
            var bytes = Array(SPiDVector.payload.utf8)
            bytes[index] ^= 1
            let (data, error) = await open(
                SPiDVector.container(data: String(decoding: bytes, as: UTF8.self)), with: signature)
            #expect(data == nil && error?.code == .untrustedAnswer)
        }
        for index in 0..<SPiDVector.signature.utf8.count {
            var bytes = Array(SPiDVector.signature.utf8)
            bytes[index] ^= 1
            let (data, error) = await open(
                SPiDVector.container(sig: String(decoding: bytes, as: UTF8.self)), with: signature)
            #expect(data == nil && error?.code == .untrustedAnswer)
        }
    }

    @Test("what only looks alike is refused: padding, another last digit, another algorithm, half of the form")
    func lookAlikes() async {
        let containers = [
            SPiDVector.container(sig: SPiDVector.signature + "="),
            // The last digit's two low bits are no part of the 256: another digit would spell the same bytes.
            SPiDVector.container(sig: String(SPiDVector.signature.dropLast()) + "h"),
            SPiDVector.container(algorithm: "none"), SPiDVector.container(sig: ""), SPiDVector.container(data: ""),
        ]
        for container in containers {
            let (data, error) = await open(container, with: signature)
            #expect(data == nil && error?.code == .untrustedAnswer, "\(container)")
        }
        for token in [SPiDVector.payload, ".", "", SPiDVector.signature + "." + SPiDVector.payload + "."] {
            #expect(throws: AccountError.self) { try signature.opened(token: token) }
        }
    }

    @Test("another sign secret does not open it, and without one a signed answer is not believed")
    func otherSecret() async {
        let other = SPiDSignature(signSecret: Secret("a274df"), hashes: OpenSSLHashes.self)
        #expect(await open(SPiDVector.container(), with: other).1?.code == .untrustedAnswer)
        #expect(await open(SPiDVector.container(), with: nil).1?.code == .untrustedAnswer)
    }
}
