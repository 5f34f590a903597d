// SPDX-License-Identifier: Apache-2.0
import IdentityProviders
import RainAccount
import RainMaker
import RainHTTP
import RainJSON
import TestSupport
import Testing
import RainCore

private let replies: [[UInt8]] = [
    #"{"nodes":["n1"],"node_details":[{"id":"n1","status":{"connectivity":{"connected":true,"timestamp":1}},"tags":["a:b"]}],"next_id":"x"}"#,
    #"{"request_id":"r","challenge":"c","request_status":"confirmed","status":"success"}"#,
    #"{"supported_versions":["v1"],"mqtt_host":"h"}"#, #"{"connectivity":{"connected":false,"timestamp":"1"}}"#,
    #"{"status":"failure","error_code":"103031","description":"d"}"#, "<html>",
].map { Array($0.utf8) }

struct FixedAnswer: HTTPClient {
    let response: HTTPResponse
    func send(_ request: HTTPRequest) async throws(HTTPError) -> HTTPResponse { response }
}

@Suite("The cloud's answers about nodes, fuzzed")
struct RainMakerFuzzTests {
    @Test("every call")
    func everyCall() async throws {
        try await withOwnProcessInSoak {
            let report = await fuzz("node reply", from: replies, seed: 41) { input in
                let http = FixedAnswer(response: HTTPResponse(status: input.count % 7 == 0 ? 400 : 200, body: input))
                let cloud = try! ScriptedCloud.cloud(over: http)
                let (node, request) = (NodeID("n1"), RequestID("r"))
                _ = try? await cloud.nodes()
                _ = try? await cloud.nodeIDs()
                _ = try? await cloud.node(node)
                _ = try? await cloud.nodeConnectivity(node)
                _ = try? await cloud.mappingStatus(request)
                _ = try? await cloud.addMapping(node: node, secret: MappingSecret(Secret("s")))
                _ = try? await cloud.initiateChallenge(lifetime: .seconds(1))
                try? await cloud.verifyChallenge(request, node: node, signature: [1])
                _ = try? await cloud.mqttHost()
            }
            #expect(report.failures == [], "\(report.complaint)")
        }
    }

    @Test("the description of the user's own backend")
    func description() async throws {
        try await withOwnProcessInSoak {
            let report = await fuzz("mapping description", from: [Array(OwnBackend.text.utf8)], seed: 43) { input in
                guard let description = try? NodeMappingDescription(parsing: input, origin: "own.json") else { return }
                // An accepted description is accepted again after it is written, and can be used.
                let text = try! JSONCoder.encode(description)
                precondition(try! NodeMappingDescription(parsing: text, origin: "own.json") == description)
                let mapping = try! OwnBackend.mapping(
                    String(decoding: text, as: UTF8.self),
                    over: FixedAnswer(response: HTTPResponse(status: 200, body: Array("{}".utf8))))
                _ = try? await mapping.addMapping(node: NodeID("n/1"), secret: MappingSecret(Secret("s")))
            }
            #expect(report.failures == [], "\(report.complaint)")
        }
    }

    @Test("the answers of the user's own backend")
    func ownBackend() async throws {
        try await withOwnProcessInSoak {
            let seeds = [
                #"{"data":{"id":"r"},"state":"done","id":7,"text":"c"}"#, #"{"error":"e","message":"m"}"#, "<html>",
            ]
            let report = await fuzz("backend's answer", from: seeds.map { Array($0.utf8) }, seed: 44) { input in
                let http = FixedAnswer(response: HTTPResponse(status: input.count % 7 == 0 ? 400 : 200, body: input))
                let mapping = try! OwnBackend.mapping(over: http)
                _ = try? await mapping.addMapping(node: NodeID("n"), secret: MappingSecret(Secret("s")))
                _ = try? await mapping.mappingStatus(RequestID("r"))
                _ = try? await mapping.initiateChallenge(lifetime: .seconds(1))
            }
            #expect(report.failures == [], "\(report.complaint)")
        }
    }
}
