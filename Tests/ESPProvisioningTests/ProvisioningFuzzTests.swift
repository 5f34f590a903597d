// SPDX-License-Identifier: Apache-2.0
import ProtocommCore
import RainCore
import Synchronization
import TestSupport
import Testing

@testable import ESPProvisioning

/// What a board or a label says is not believed: mutated, it is understood or refused.
@Suite("Provisioning, fuzzed")
struct ProvisioningFuzzTests {
    @Test("version information")
    func versionInformation() async throws {
        try await withOwnProcessInSoak {
            let examples = VersionInformationTests.answers.map { Array($0.text.utf8) }
            let report = fuzz("VersionInformation", from: examples, seed: 31) { input in
                _ = try? VersionInformation(input)
            }
            #expect(report.failures == [], "\(report.complaint)")
        }
    }

    @Test("QR codes")
    func qrCodes() async throws {
        try await withOwnProcessInSoak {
            let examples = [
                #"{"ver":"v1","name":"PROV_a1b2c3","pop":"abcd1234","transport":"ble","security":2}"#,
                "https://x/q?data=%7B%22name%22:%22P%22%7D", "NP:PROV_a1b2c3|abcd1234|b",
            ].map { Array($0.utf8) }
            let report = fuzz("QRPayload", from: examples, seed: 32) { input in _ = try? QRPayload(input) }
            #expect(report.failures == [], "\(report.complaint)")
        }
    }

    @Test("names of networks")
    func names() async throws {
        try await withOwnProcessInSoak {
            let report = fuzz("SSID", from: [Array("Café".utf8), [0, 255, 0x5C]], seed: 33, maximumLength: 32) {
                input in
                let text = SSID(input).description
                // Nothing that a terminal would act on is left.
                #expect(!text.unicodeScalars.contains { $0.value < 0x20 || $0.value == 0x7F })
            }
            #expect(report.failures == [], "\(report.complaint)")
        }
    }

    @Test("a board's answers to every question")
    func answers() async throws {
        try await withOwnProcessInSoak {
            let connection = WiFiConnection(ip4Address: Array("10.0.0.7".utf8), ssid: Array("Home".utf8), channel: 6)
            let examples = [
                NetworkConfigPayload(.responseSetWiFiConfig(StatusResponse())).encoded(),
                NetworkConfigPayload(.responseApplyWiFiConfig(StatusResponse(.internalError))).encoded(),
                NetworkConfigPayload(
                    .responseGetWiFiStatus(.init(state: .connected, detail: .connected(connection)))
                ).encoded(),
                NetworkScanPayload(.responseScanWiFiStart).encoded(),
                NetworkScanPayload(.responseScanWiFiStatus(.init(isFinished: true, resultCount: 3))).encoded(),
                NetworkScanPayload(.responseScanWiFiResult(.init([WiFiScanResult(ssid: [1], rssi: -3)]))).encoded(),
                NetworkControlPayload(.responseWiFiReset).encoded(),
                UserMappingPayload(.responseSetUserMapping(.init(nodeID: Array("node".utf8)))).encoded(),
                ChallengeResponsePayload(.responseChallengeResponse(.init(payload: [1], nodeID: [65]))).encoded(),
            ]
            let network = try! WiFiNetwork(ssid: SSID("Home"), passphrase: Secret("correct horse"))
            // Each input meets one question, in turn, so that a round stays one exchange.
            let round = Mutex(0)
            let input = Mutex<[UInt8]>([])
            // A board that says again and again that it joins would be watched for ever: the next answer is that it did.
            let isWatched = Mutex(false)
            let joined = examples[2]
            let firmware = ScriptedFirmware(isRecording: false) { _, _ in
                input.withLock { input in
                    defer { if isWatched.withLock({ $0 }) { input = joined } }
                    return input
                }
            }
            let board = firmware.board(clock: InstantClock())
            _ = try? await board.identify()
            try? await board.secure()
            let report = await fuzz("answers", from: examples, seed: 34, maximumLength: 512) { bytes in
                input.withLock { $0 = bytes }
                let question = round.withLock { round -> Int in
                    round += 1
                    return round % 6
                }
                isWatched.withLock { $0 = question == 4 }
                switch question {
                case 0: try? await board.join(network)
                case 1: _ = try? await board.scan()
                case 2: try? await board.reset()
                case 3:
                    _ = try? await board.associate(
                        .userMapping(UserID("user"), MappingSecret(Secret("planted-secret"))))
                case 4: _ = try? await board.watch { _ in }
                default: _ = try? await board.associate(.challenge([1, 2, 3]))
                }
            }
            #expect(report.failures == [], "\(report.complaint)")
        }
    }
}
