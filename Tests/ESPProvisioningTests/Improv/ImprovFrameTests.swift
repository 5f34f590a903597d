// SPDX-License-Identifier: Apache-2.0
import ESPProvisioning
import TestSupport
import Testing

@Suite("Improv's packets")
struct ImprovFrameTests {
    /// A question for the state, as improv-wifi.com/serial has it.
    static let vector: [UInt8] = [0x49, 0x4D, 0x50, 0x52, 0x4F, 0x56, 0x01, 0x03, 0x02, 0x02, 0x00, 0xE5]

    static let frames: [ImprovFrame] = [
        .command(.state)!, .command(.joinNetwork, [Array("Home".utf8), Array("secret-secret".utf8)])!,
        ImprovFrame(.state, [4]), ImprovFrame(.failure, [3]),
        ImprovFrame(.result, [1, 8] + [7] + Array("http://".utf8)), ImprovFrame(.result, [4, 0]),
    ]

    private func read(_ bytes: [UInt8]) -> [ImprovFrame] {
        var reader = ImprovReader()
        return reader.take(bytes)
    }

    @Test("the published question for the state")
    func published() {
        #expect(ImprovFrame.command(.state)?.encoded == Self.vector + [0x0A])
        #expect(read(Self.vector) == [.command(.state)!])
    }

    @Test("the states and answers of the published SDKs' own tests (improv-wifi/sdk-serial-js, test/serial.test.ts)")
    func softwareKit() {
        for (value, state) in [(UInt8(0), ImprovState.stopped), (4, .provisioned), (5, .scanning)] {
            let body = Array("IMPROV".utf8) + [1, 1, 1, value]
            #expect(read(body + [body.reduce(0, &+)]).first?.state == state)
        }
        // Online, with Wi-Fi and Ethernet; and one entry of a scan.
        for (command, words) in [
            (ImprovCommand.network, ["7", "http://192.168.1.10"]), (.scan, ["Home", "-55", "YES"]),
        ] {
            let strings = words.flatMap { [UInt8($0.utf8.count)] + Array($0.utf8) }
            let result = ImprovFrame(.result, [command.rawValue, UInt8(strings.count)] + strings).result
            #expect(result?.command == command && result?.strings == words.map { Array($0.utf8) })
        }
    }

    @Test("every split of every packet is the same packet, with log lines around it")
    func splits() {
        for frame in Self.frames {
            let bytes = Array("I (12) wifi: IMPROVED\r\n".utf8) + frame.encoded + Array("I (13) x: y\r\n".utf8)
            for cut in 0...bytes.count {
                var reader = ImprovReader()
                #expect(reader.take(bytes[..<cut]) + reader.take(bytes[cut...]) == [frame])
            }
        }
    }

    @Test("every truncation is nothing, and the packet behind it is found")
    func truncations() {
        for frame in Self.frames {
            let bytes = frame.encoded.dropLast()
            for length in 0..<bytes.count {
                #expect(read(Array(bytes.prefix(length))) == [])
                // What is missing is taken from what follows, so that two packets may be needed to be in step again.
                let after = read(
                    Array(bytes.prefix(length)) + [0x0A] + Array(repeating: frame.encoded, count: 24).joined())
                #expect(after.last == frame && after.allSatisfy { $0 == frame }, "cut at \(length)")
            }
        }
    }

    @Test("every changed byte makes it no packet, or at least not that one")
    func changed() {
        for frame in Self.frames {
            let bytes = Array(frame.encoded.dropLast())
            for index in bytes.indices {
                var other = bytes
                other[index] ^= 0x11
                #expect(read(other) == [], "byte \(index)")
            }
        }
    }

    @Test("a header that begins in the middle of another one is found")
    func restart() {
        #expect(read(Array("IMPIMPROV".utf8) + Self.vector) == [.command(.state)!])
        #expect(read(Array("IMPROV\u{1}".utf8) + Self.vector) == [.command(.state)!])
    }

    @Test("only a board's packets are a board's: its echo of a command is not")
    func origin() {
        #expect(!ImprovFrame.command(.state)!.isFromBoard)
        #expect(ImprovFrame(.state, [2]).isFromBoard && !ImprovFrame(.state, [9]).isFromBoard)
        #expect(!ImprovFrame(.state, []).isFromBoard && !ImprovFrame(.result, [1, 5, 1]).isFromBoard)
    }

    @Test("the strings of a result are bounded by their lengths")
    func results() {
        #expect(ImprovFrame(.result, [3, 4, 1, 0x41, 1, 0x42]).result?.strings == [[0x41], [0x42]])
        #expect(ImprovFrame(.result, [3, 0]).result?.strings == [])
        #expect(ImprovFrame(.result, [3, 2, 5, 0x41]).result == nil)
        #expect(ImprovFrame(.result, [3, 200]).result == nil)
    }

    @Test("what does not fit into one packet is refused")
    func tooLong() {
        #expect(ImprovFrame.command(.joinNetwork, [[UInt8](repeating: 0x41, count: 256)]) == nil)
        #expect(
            ImprovFrame.command(
                .joinNetwork, [[UInt8](repeating: 0x41, count: 200), [UInt8](repeating: 0x42, count: 60)]) == nil)
    }

    @Test("noise is nothing to it, and takes no memory")
    func fuzzed() async throws {
        try await withOwnProcessInSoak {
            let report = fuzz("ImprovReader", from: ImprovFrameTests.frames.map(\.encoded)) { bytes in
                var reader = ImprovReader()
                for frame in reader.take(bytes) { _ = (frame.state, frame.failure, frame.result) }
            }
            #expect(report.failures.isEmpty, Comment(rawValue: report.complaint))
        }
    }
}
