// SPDX-License-Identifier: Apache-2.0
import RainAccount
import RainCore
import RainCryptoOpenSSL
import RainJSON
import Testing

@testable import RainMaker

@Suite("Requests signed for AWS IoT")
struct SignedRequestTests {
    private static let role = AssumedRole(
        accessKey: "AKIAIOSFODNN7EXAMPLE", secretKey: Secret("wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"),
        sessionToken: Secret("EXAMPLE+SESSION/="), region: "us-east-1")

    /// Made by botocore 1.43.11 (`SigV4QueryAuth` for `iotdevicegateway`, without the token). The npm package aws-signature-v4 tests the
    /// form: the token is the last parameter and not signed.
    @Test(
        "have the signature that AWS's own SDK makes",
        arguments: [
            // 2013-05-24T00:00:00Z
            (
                1_369_353_600.0, "example.iot.us-east-1.amazonaws.com", 86_400, "20130524", "20130524T000000Z",
                "3ec863617e7e6afa53fc5669c7db4983300818ddc18e72db53c6408d00f60d94"
            ),
            // 2028-02-29T23:59:59Z
            (
                1_835_481_599.9, "127.0.0.1:8080", 300, "20280229", "20280229T235959Z",
                "e424f23eaae1f522c38fe9ccfa7b51298bf2765b8ee51fa48f35194a4d8c927a"
            ),
        ])
    func vectors(
        time: Double, host: String, seconds: Int, day: String, moment: String, signature: String
    ) {
        let signer = AWSSigner(
            Self.role, region: "us-east-1", service: AWSSigner.broker, hashes: OpenSSLHashes.self)
        let target = signer.target(host: host, path: "/mqtt", at: UnixTime(seconds: time), goodFor: seconds)
        #expect(
            target
                == "/mqtt?X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential=AKIAIOSFODNN7EXAMPLE%2F\(day)%2Fus-east-1%2Fiotdevicegateway%2Faws4_request&X-Amz-Date=\(moment)&X-Amz-Expires=\(seconds)&X-Amz-SignedHeaders=host&X-Amz-Signature=\(signature)&X-Amz-Security-Token=EXAMPLE%2BSESSION%2F%3D"
        )
    }

    @Test(
        "use the region in the broker's name",
        arguments: [
            ("a1b2-ats.iot.eu-central-1.amazonaws.com", "eu-central-1"),
            ("x.iot.cn-north-1.amazonaws.com.cn", "cn-north-1"),
            ("mqtt.example.com", nil), ("127.0.0.1:8883", nil),
        ] as [(String, String?)])
    func regions(host: String, region: String?) throws {
        #expect(BrokerAddress(host: host, webSocket: try ServiceURL("https://\(host)/mqtt")).region == region)
    }
}

@Suite("Reports of nodes")
struct NodeReportTests {
    @Test("change the values that they name, and nothing else")
    func merging() throws {
        var node = try #require(
            Node([
                "id": "n1", "params": ["Light": ["Power": false, "Brightness": 5], "Time": ["TZ": "UTC"]],
            ]))
        node.take(NodeReport(node: NodeID("n1"), values: ["Light": ["Power": true]]))
        #expect(node.parameters == ["Light": ["Power": true, "Brightness": 5], "Time": ["TZ": "UTC"]])
        node.take(NodeReport(node: NodeID("other"), values: ["Light": ["Power": false]]))
        #expect(node.parameters?["Light"]?["Power"] == true)
    }
}
