// SPDX-License-Identifier: Apache-2.0
import RainDBus
import Testing

@testable import ProtocommTransports

@Suite("What follows an attempt at a connection")
struct ConnectAttemptsTests {
    private static let aborted = DBusError(.remote, name: "org.bluez.Error.Failed", message: "aborted")
    private static let gone = DBusError(.remote, name: "org.freedesktop.DBus.Error.UnknownObject", message: "gone")
    private static let off = BluetoothError(.poweredOff, message: "off")

    struct Case: Sendable, CustomTestStringConvertible {
        var description: String
        var errors: [AttemptError]
        var hasForgotten = false
        /// What follows the last of them; nil for none.
        var next: ConnectAttempts.Next?
        var told: BluetoothError.Code = .connectionFailed
        /// The text of the report.
        var words = ""

        var testDescription: String { description }
    }

    static let again = AttemptError.failed(.again, aborted)
    static let cases: [Case] = [
        Case(description: "aborted", errors: [again], next: .sameBoard(.zero)),
        Case(description: "aborted twice", errors: [again, again], next: .sameBoard(.milliseconds(50))),
        Case(description: "vanished", errors: [.failed(.rescan, gone)], next: .listenAgain(.zero)),
        Case(description: "broken", errors: [.lost], next: .listenAgain(.zero)),
        Case(description: "aborted, then broken", errors: [again, .lost], next: .listenAgain(.milliseconds(50))),
        Case(description: "without endpoints", errors: [.stale], next: .forget),
        Case(description: "aborted, then without endpoints", errors: [again, .stale], next: .forget),
        Case(description: "without endpoints, then broken", errors: [.stale, .lost], next: .listenAgain(.zero)),
        Case(description: "without endpoints twice", errors: [.stale, .stale], words: "provisioning mode"),
        Case(
            description: "without endpoints, forgotten", errors: [.stale], hasForgotten: true,
            words: "provisioning mode"),
        Case(description: "switched off", errors: [.failed(.machine(off), aborted)], told: .poweredOff, words: "off"),
        Case(description: "called off", errors: [.failed(.cancelled, aborted)], told: .cancelled),
        Case(
            description: "not paired", errors: [again, .other(BluetoothError(.pairingFailed, message: "no"))],
            told: .pairingFailed, words: "no"),
        Case(
            description: "aborted to the end", errors: Array(repeating: again, count: RetryBudget.maximumAttempts),
            words: "PROV_1 was made in 24 attempts (aborted)"),
        Case(
            description: "aborted, and cut off by the end of the time",
            errors: Array(repeating: again, count: RetryBudget.maximumAttempts - 1)
                + [.failed(.again, DBusError(.timeout, message: "No answer arrived over D-Bus in time."))],
            words: "in 24 attempts (aborted)"),
        Case(
            description: "broken to the end", errors: Array(repeating: .lost, count: RetryBudget.maximumAttempts),
            words: "to PROV_1 broke each time"),
    ]

    @Test("depends on how it ended, and on those before", arguments: cases)
    func table(_ given: Case) throws {
        let now = ContinuousClock.now
        var attempts = ConnectAttempts(within: .seconds(3600), hasForgotten: given.hasForgotten, now: now)
        for error in given.errors.dropLast() { _ = try attempts.failed(error, board: "PROV_1", now: now) }
        let last = try #require(given.errors.last)
        do {
            let next = try attempts.failed(last, board: "PROV_1", now: now)
            #expect(next == given.next)
        } catch {
            #expect(given.next == nil && error.code == given.told, "\(error)")
            #expect(error.message.contains(given.words), "\(error)")
        }
    }

    @Test("a board that BlueZ has keys for is forgotten once, after its second link broke")
    func staleBond() throws {
        let now = ContinuousClock.now
        var attempts = ConnectAttempts(within: .seconds(3600), hasForgotten: false, now: now)
        #expect(try attempts.failed(.lost, board: "PROV_1", isBonded: true, now: now) == .listenAgain(.zero))
        #expect(try attempts.failed(.lost, board: "PROV_1", isBonded: true, now: now) == .forget)
        let third = try attempts.failed(.lost, board: "PROV_1", isBonded: true, now: now)
        #expect(third != .forget)
        let unbonded = try attempts.failed(.lost, board: "PROV_1", now: now)
        #expect(unbonded != .forget)
    }

    @Test("ends with the time, whatever is left of the attempts")
    func time() throws {
        let now = ContinuousClock.now
        var attempts = ConnectAttempts(within: .seconds(1), hasForgotten: false, now: now)
        #expect(attempts.end == now + .seconds(1) && attempts.number == 1)
        #expect(try attempts.failed(.lost, board: "PROV_1", now: now) == .listenAgain(.zero))
        #expect(attempts.number == 2)
        #expect(throws: BluetoothError.self) { try attempts.failed(.lost, board: "PROV_1", now: now + .seconds(1)) }
    }

    @Test("a board that is not heard any more is reported with the cause of its broken connections")
    func unfound() throws {
        let nothing = BluetoothError(.notFound, message: "nothing was heard")
        var attempts = ConnectAttempts(within: .seconds(60), hasForgotten: false)
        #expect(attempts.unfound(nothing) == nothing)
        _ = try attempts.failed(.stale, board: "PROV_1")
        #expect(attempts.unfound(nothing).message.contains("Check that the board is in provisioning mode."))
        _ = try attempts.failed(.lost, board: "PROV_1")
        #expect(attempts.unfound(nothing).message.contains("broke each time"))
        #expect(attempts.unfound(Self.off) == Self.off)
    }
}
