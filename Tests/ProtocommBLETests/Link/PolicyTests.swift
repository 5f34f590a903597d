import DBus
import Testing

@testable import ProtocommBLE

@Suite("What is done about failures of the radio")
struct PolicyTests {
    static let failures: [(DBusError, ConnectFailure)] = [
        (DBusError(.remote, name: "org.bluez.Error.Failed", message: "le-connection-abort-by-local"), .again),
        (DBusError(.remote, name: "org.bluez.Error.Failed", message: "Software caused connection abort"), .again),
        (DBusError(.remote, name: "org.bluez.Error.InProgress", message: "In Progress"), .again),
        (DBusError(.timeout, message: "late"), .again),
        (DBusError(.remote, name: "org.freedesktop.DBus.Error.UnknownObject", message: ""), .rescan),
        (DBusError(.remote, name: "org.bluez.Error.DoesNotExist", message: ""), .rescan),
        (DBusError(.remote, name: "org.bluez.Error.NotReady", message: ""), .machine(.poweredOff)),
        (DBusError(.remote, name: "org.freedesktop.DBus.Error.ServiceUnknown", message: ""), .machine(.noBlueZ)),
        (DBusError(.remote, name: "org.freedesktop.DBus.Error.AccessDenied", message: ""), .machine(.accessDenied)),
        (DBusError(.disconnected, message: ""), .machine(.noBus)), (DBusError(.cancelled, message: ""), .cancelled),
    ]

    @Test("a failed connection is tried again, heard anew, or a person's to mend", arguments: failures)
    func connecting(error: DBusError, failure: ConnectFailure) {
        #expect(ConnectFailure(error) == failure)
    }

    @Test("attempts come at once, then slower, and end with their number or their time")
    func budget() {
        let now = ContinuousClock.now
        var budget = RetryBudget(within: .seconds(3600), now: now)
        var pauses: [Duration] = []
        while let pause = budget.next(now: now) { pauses.append(pause) }
        #expect(pauses.count == RetryBudget.maximumAttempts - 1)
        #expect(pauses.first == .zero)
        #expect(pauses.last == .seconds(1))
        #expect(zip(pauses, pauses.dropFirst()).allSatisfy { $0 <= $1 })
        var short = RetryBudget(within: .milliseconds(60), now: now)
        #expect(short.next(now: now) == .zero)
        #expect(short.next(now: now + .milliseconds(40)) == .milliseconds(20))
        #expect(short.next(now: now + .milliseconds(60)) == nil)
    }

    @Test("only the board that is being paired is agreed to")
    func agent() async throws {
        let agent = PairingAgent()
        func ask(_ member: String, _ device: String, path: String = PairingAgent.path) -> Bool {
            let message = DBusMessage(
                kind: .call, serial: 1, replySerial: nil, sender: ":1.1", destination: nil, path: path,
                interface: "org.bluez.Agent1", member: member, errorName: nil, expectsReply: true,
                arguments: [.objectPath(device)])
            if case .reply = agent.answer(message) { return true }
            return false
        }
        #expect(!ask("RequestAuthorization", "/d"))
        agent.allow("/d")
        for member in ["RequestAuthorization", "RequestConfirmation", "AuthorizeService"] {
            #expect(ask(member, "/d"))
            #expect(!ask(member, "/other"))
        }
        #expect(!ask("RequestPinCode", "/d"))
        #expect(!ask("RequestPasskey", "/d"))
        #expect(!ask("RequestAuthorization", "/d", path: "/elsewhere"))
        agent.forbid("/d")
        #expect(!ask("RequestAuthorization", "/d"))
        #expect(ask("Cancel", "/d"))
    }
}
