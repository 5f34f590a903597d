// SPDX-License-Identifier: Apache-2.0
import RainIO
import TestSupport
import Testing

@testable import Protocomm

@Suite("Console output, fuzzed")
struct ConsoleFuzzTests {
    static let examples = [
        "prov-config 17 5200\r\n\r\r\n08015a021001\r\r\n\n>> ",
        "\n>> \r\n\n>> prov-conI (1) wifi: x\r\nfig 17 5200\r\n\u{1B}[0;31mE (2) protocomm: no\u{1B}[0m\r\n\n>> ",
        "ESP-ROM:esp32c3-api1-20210207\r\nrst:0x1 (POWERON)\r\n",
        "prov-config 17 5200\r\n\r\ndead\r\nbeef\r\n\r\n0\r\n\n>> ",
    ].map { Array($0.utf8) }

    @Test("the answer's parser stays in its bounds, and never makes up an answer without a prompt")
    func reply() async throws {
        try await withOwnProcessInSoak {
            let report = fuzz("ConsoleReplyParser", from: Self.examples, seed: 31) { input in
                var parser = ConsoleReplyParser(command: Array("prov-config 17 5200".utf8))
                for (index, byte) in input.enumerated() {
                    guard let outcome = parser.append(byte) else { continue }
                    if outcome != .restarted {
                        #expect(input[...index].suffix(3).elementsEqual(">> ".utf8))
                    }
                    break
                }
            }
            #expect(report.failures == [], "\(report.complaint)")
        }
    }

    @Test("lines stay in their bounds")
    func transcript() async throws {
        try await withOwnProcessInSoak {
            let report = fuzz("ConsoleTranscript", from: Self.examples, seed: 32, maximumLength: 16384) { input in
                var transcript = ConsoleTranscript(command: Array("prov-config 17 5200".utf8))
                for byte in input {
                    guard case .line(let line) = transcript.append(byte) else { continue }
                    #expect(line.text.count <= 4096)
                    #expect(!line.text.contains(0x0A) && !line.text.contains(0x0D))
                }
            }
            #expect(report.failures == [], "\(report.complaint)")
        }
    }
}
