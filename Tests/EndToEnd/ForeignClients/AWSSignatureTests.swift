// SPDX-License-Identifier: Apache-2.0
import RainAccount
import RainCore
import RainCryptoOpenSSL
import RainHTTP
import RainJSON
import RainMaker
import TestSupport
import Testing

/// botocore, AWS's own client, judges both sides: it computes the signatures of our requests, and the simulated Neo checks its own.
@Suite("Signatures of AWS, by botocore")
struct AWSSignatureTests {
    private static let script = Repository.path("Tests/EndToEnd/ForeignClients/Clients/aws_signatures.py")

    private static let role = AssumedRole(
        accessKey: "ASIAEXAMPLE", secretKey: Secret("wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"),
        sessionToken: Secret("token/with+signs=="))

    private static let hosts = [
        "https://abc123.execute-api.eu-central-1.amazonaws.com", "https://ABC.example.com:443", "http://127.0.0.1:8080",
        "http://localhost:80",
    ]
    private static let paths = [
        "", "/", "/prod/v1/groups", "/prod/v1/groups/", "/prod/v1/groups/a%20b/nodes/n%2B1", "/prod//v1/./x/../groups",
        "/prod/v1/%C3%A9%E2%82%AC", "/prod/v1/~tilde-._/(x)*!'", "/..", "/prod/v1/a%2Fb",
    ]
    private static let queries = [
        "", "?a=1&b=2", "?b=2&a=1", "?a=2&a=1&a=", "?a-b=1&a=2&a=10", "?key=Light.Power%20%2B&data_type=int",
        "?x=%E2%82%AC&X=1&%C3%A9=2", "?flag", "?empty=&z=",
        "?start_time=1735686000000&end_time=1767222000000&page_size=200",
        "?a=b=c", "?key=0x1.c.s.0x402.a.0x0&data_type=",
    ]
    private static let requests: [(HTTPRequest.Method, String)] = [
        (.get, ""), (.post, "{}"), (.put, #"{"group_name":"Küche + Bad","x":[1,2.5]}"#), (.patch, "a=b&c"),
        (.delete, ""),
    ]
    private static let moments = [1_369_353_600.0, 1_835_481_599.9, 1_735_686_000]

    private struct Case {
        var json: JSONValue
        var signature: String
    }

    private static func json(
        _ form: String, _ method: String, _ url: String, _ body: String, _ time: Double, service: String, expires: Int
    ) -> JSONValue {
        [
            "form": .string(form), "method": .string(method), "url": .string(url), "body": .string(body),
            "time": .string(CivilTime(secondsSince1970: Int(time)).basicText), "access_key": .string(role.accessKey),
            "secret_key": .string(role.secretKey.revealString()), "token": .string(role.sessionToken.revealString()),
            "service": .string(service), "region": "eu-central-1", "expires": .integer(Int64(expires)),
        ]
    }

    /// Requests of every kind, signed by us.
    private static func cases() throws -> [Case] {
        let gateway = AWSSigner(role, region: "eu-central-1", service: AWSSigner.gateway, hashes: OpenSSLHashes.self)
        let broker = AWSSigner(role, region: "eu-central-1", service: AWSSigner.broker, hashes: OpenSSLHashes.self)
        var cases: [Case] = []
        for (index, path) in paths.enumerated() {
            for (number, query) in queries.enumerated() {
                let (method, body) = requests[(index + number) % requests.count]
                let url = hosts[(index * 3 + number) % hosts.count] + path + query
                let time = moments[(index + number) % moments.count]
                var request = HTTPRequest(method: method, url: url, body: Array(body.utf8))
                gateway.sign(&request, at: UnixTime(seconds: time))
                let header = try #require(request.authorization)
                let signature = try #require(header.split(separator: "=").last.map(String.init))
                cases.append(
                    Case(
                        json: json("header", method.rawValue, url, body, time, service: "execute-api", expires: 0),
                        signature: signature))
            }
        }
        for host in ["abc-ats.iot.eu-central-1.amazonaws.com", "127.0.0.1:8080"] {
            for (path, time) in zip(["/mqtt", "/prod/mqtt", "/"], moments) {
                for expires in [300, 86_400] {
                    let target = broker.target(
                        host: host, path: path, at: UnixTime(seconds: time), goodFor: expires)
                    let start = try #require(target.firstRange(of: "X-Amz-Signature="))
                    cases.append(
                        Case(
                            json: json(
                                "query", "GET", "http://\(host)\(path)", "", time, service: "iotdevicegateway",
                                expires: expires),
                            signature: String(target[start.upperBound...].prefix(64))))
                }
            }
        }
        return cases
    }

    @Test("botocore computes the same signatures: unicode, spaces, plus signs, repeated and empty parameters, stages")
    func reproduced() async throws {
        let python = try await ForeignClient.mqttClient.path()
        try await withTemporaryFolder { folder in
            let cases = try Self.cases()
            try folder.write(
                String(decoding: JSONValue.array(cases.map(\.json)).serialized(), as: UTF8.self), to: "requests.json")
            let finished = try await run(
                python, [Self.script, "sign", folder.file("requests.json")], within: .waitLimit)
            #expect(finished.status == .exited(0), "\(finished.standardError)")
            let signatures = try JSONValue(parsing: Array(finished.standardOutput.utf8)).array ?? []
            #expect(signatures.count == cases.count && cases.count > 100)
            for (mine, theirs) in zip(cases, signatures) { #expect(theirs.string == mine.signature, "\(mine.json)") }
        }
    }

    @Test("the simulated Neo accepts what botocore signs, in headers and in addresses, and no forgery")
    func accepted() async throws {
        let python = try await ForeignClient.mqttClient.path()
        try await withTemporaryFolder { folder in
            let neo = try await SimulatedNeo.start(in: folder)
            let broker = "ws" + neo.api.dropFirst(4).dropLast("/prod".count)
            let finished = try await run(
                python,
                [Self.script, "neo", neo.api, neo.accounts, broker, SimulatedNeo.user, SimulatedIdentity.password],
                within: .waitLimit)
            #expect(finished.status == .exited(0), "\(finished.standardError)")
            let result = try JSONValue(parsing: Array(finished.standardOutput.utf8))
            let expected: JSONValue = [
                "mixed": 403, "created": 201, "renamed": 200, "names": ["Küche"], "query": 404, "stale": 403,
                "forged": 403, "signed_token": [404, "disconnected"], "appended_token": [404, "disconnected"],
                "bare": ["disconnected"], "foreign": ["disconnected"],
            ]
            #expect(result == expected, "\(result)")
        }
    }
}
