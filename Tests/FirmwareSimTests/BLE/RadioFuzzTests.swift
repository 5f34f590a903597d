// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import RainDBus
import TestSupport
import Testing

@testable import firmware_sim

/// Reads calls out of any bytes: known objects and methods with wrong arguments, unknown ones, and time that goes by.
private struct CallScript {
    private var bytes: ArraySlice<UInt8>

    init(_ bytes: [UInt8]) { self.bytes = bytes[...] }

    var isEmpty: Bool { bytes.isEmpty }

    mutating func next() -> UInt8 { bytes.popFirst() ?? 0 }

    mutating func choose<Element>(_ elements: [Element]) -> Element { elements[Int(next()) % elements.count] }

    mutating func text() -> String {
        let count = Int(next()) % 12
        defer { bytes = bytes.dropFirst(count) }
        return String(decoding: bytes.prefix(count), as: UTF8.self)
    }

    mutating func value(_ depth: Int = 0) -> DBusValue {
        switch next() % (depth < 4 ? 16 : 10) {
        case 0: .byte(next())
        case 1: .bool(next() & 1 == 1)
        case 2: .int16(Int16(bitPattern: UInt16(next()) << 8 | UInt16(next())))
        case 3: .uint16(UInt16(next()) << 8 | UInt16(next()))
        case 4: .uint64(UInt64(next()) << 56)
        case 5:
            .string(choose(["UUIDs", "Pattern", "le", "request", "command", "Powered", "org.bluez.Device1", text()]))
        case 6: .objectPath(choose([RadioHarness.device, "/agent", "/"]))
        case 7: .bytes(Array(text().utf8))
        case 8: .bytes([UInt8](repeating: next(), count: Int(next()) * 3))
        case 9: .double(Double(next()))
        case 10: .strings([text(), text()])
        case 11: .variant(value(depth + 1))
        case 12: .structure([value(depth + 1), value(depth + 1)])
        case 13: .array([value(depth + 1)], of: "v")
        case 14:
            .properties([
                (choose(["offset", "type", "UUIDs", "RSSI", "Transport", "Pattern", text()]), value(depth + 1))
            ])
        default: .properties([])
        }
    }
}

private let methods = BlueZInterface.allCases.flatMap { interface in interface.methods.map { (interface, $0) } }
private let paths = [
    "/", "/org", "/org/bluez", "/org/bluez/hci0", RadioHarness.device, RadioHarness.service,
    RadioHarness.characteristic, RadioHarness.descriptor, "/org/bluez/hci0/dev_7C_DF_A1_00_00_02",
    "/org/bluez/hci0/dev_7C_DF_A1_00_00_02/service000c/char000d", "/org/bluez/hci0/dev_", "",
    RadioHarness.descriptor + "/x",
]

/// A radio that lives through all inputs, and answers each call once.
private final class FuzzedRadio {
    private let harness: RadioHarness
    private(set) var complaint: String?

    init() {
        var faults = RadioFaults()
        faults.abort = 0.2
        faults.lose = 0.2
        faults.stale = 0.5
        faults.forgetDelay = 3000
        harness = RadioHarness(faults, boards: 3)
    }

    func feed(_ input: [UInt8]) {
        var script = CallScript(input)
        var calls: [RadioCall] = []
        let outcomes: [GATTWriteOutcome] = [
            .acknowledged, .later, .refused(.invalidPDU, closesLink: false),
            .refused(.bluedroidError, closesLink: true),
        ]
        harness.outcome = { _, value in outcomes[value.count % outcomes.count] }
        while !script.isEmpty {
            switch script.next() % 8 {
            case 0: harness.advance(UInt64(script.next()) * 8)
            case 1: harness.senderVanishes(":1.\(script.next() % 3)")
            case 2: harness.setServing(Int(script.next() % 3), script.next() & 1 == 1)
            case 3: harness.finishWrite(Int(script.next() % 3), script.choose(outcomes.filter { $0 != .later }))
            default: calls.append(call(&script))
            }
        }
        for board in 0..<3 { harness.setServing(board, true) }
        for _ in 0..<8 {
            for board in 0..<3 { harness.finishWrite(board) }
            harness.advance(500)
        }
        check(calls)
        harness.effects = []
        harness.log = []
    }

    private func call(_ script: inout CallScript) -> RadioCall {
        let (interface, method) = script.choose(methods)
        let path = script.choose(paths)
        let sender = ":1.\(script.next() % 3)"
        switch script.next() % 4 {
        case 0:
            return harness.call(
                path, script.next() & 1 == 0 ? nil : script.text(), script.text(), [script.value()], by: sender)
        case 1:
            let arguments = (0..<Int(script.next() % 4)).map { _ in script.value() }
            return harness.call(path, interface.rawValue, method.name, arguments, by: sender)
        default:
            // Arguments of the right types, so that the call gets past the door.
            let arguments = method.takes.map { type -> DBusValue in
                switch type {
                case "o": .objectPath(RadioHarness.device)
                case "s": .string(script.choose([interface.rawValue, "org.bluez.Device1", "Trusted", script.text()]))
                case "v": .variant(script.value())
                case "ay": .bytes([UInt8](repeating: 1, count: Int(script.next())))
                default: .properties([(script.choose(["offset", "type", "UUIDs", "x"]), script.value())])
                }
            }
            return harness.call(path, interface.rawValue, method.name, arguments, by: sender)
        }
    }

    private func check(_ calls: [RadioCall]) {
        var answers: [UInt64: Int] = [:]
        for effect in harness.effects {
            switch effect {
            case .reply(let call, _), .error(let call, _): answers[call.id, default: 0] += 1
            default: continue
            }
        }
        for call in calls where answers[call.id] != 1 {
            complaint = complaint ?? "\(call) was answered \(answers[call.id] ?? 0) times"
        }
        let paths = harness.radio.objects.map { harness.radio.path(of: $0) }
        if paths != paths.sorted() { complaint = complaint ?? "objects out of order: \(paths)" }
    }
}

@Suite("The simulated radio, fuzzed")
struct RadioFuzzTests {
    /// Start of a scan, some time, a connection, services, a write and a read.
    static let examples: [[UInt8]] = [
        [7, 6, 3, 0, 2, 0, 60, 0, 60, 7, 11, 4, 0, 2, 0, 60, 0, 60, 7, 16, 6, 0, 2, 5, 0, 0, 7, 15, 6, 0, 2, 0],
        [5, 1, 4, 1, 2, 3, 3, 3], [4, 3, 3, 1, 2, 0, 0, 0, 0], [6, 13, 4, 2, 2, 9, 9, 2, 0, 0, 1, 0],
        Array("\u{4}\u{0}\u{1}\u{2}Properties".utf8),
    ]

    @Test("calls with any arguments are answered once each, in time, and the tree stays in order")
    func calls() async throws {
        try await withOwnProcessInSoak {
            let radio = FuzzedRadio()
            let report = fuzz("radio calls", from: RadioFuzzTests.examples, seed: 51, maximumLength: 512) {
                radio.feed($0)
            }
            #expect(report.failures == [], "\(report.complaint)")
            #expect(radio.complaint == nil, "\(radio.complaint ?? "")")
        }
    }

    @Test("a board takes any writes, whole and cut")
    func writes() async throws {
        try await withOwnProcessInSoak {
            guard
                let simulator = try? FirmwareSim.parse(["--ble", "--security", "0", "--seed", "3", "--no-auto-stop"]),
                let boards = try? simulator.makeBoards(Journal(path: nil))
            else { return #expect(Bool(false), "no board") }
            let server = GATTServer(board: boards[0])
            let examples = [
                [5] + hex("52130a0175120e706c616e7465642d736563726574"),
                [3] + hex("0802620f0a034e6574120870617373776f7264"), [3] + hex("0804"), [2] + hex("5203a20100"),
                [4] + Array("---".utf8),
            ]
            let report = fuzz("GATT writes", from: examples, seed: 52, maximumLength: 600) { input in
                let index = Int(input.first ?? 0) % server.application.characteristics.count
                server.connected()
                let outcome = server.write(Array(input.dropFirst()), to: index)
                if input.count > 513 { #expect(outcome == .refused(.invalidValueLength, closesLink: false)) }
                _ = try? server.read(index, offset: Int(input.last ?? 0))
                _ = server.delayedOutcome()
                server.disconnected("fuzz")
            }
            #expect(report.failures == [], "\(report.complaint)")
        }
    }
}
