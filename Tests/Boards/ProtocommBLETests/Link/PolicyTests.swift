// SPDX-License-Identifier: Apache-2.0
import RainDBus
import Testing

@testable import ProtocommBLE

@Suite("What is done about failures of the radio")
struct PolicyTests {
    private static let adapter = "/org/bluez/hci0"

    private static func remote(_ name: String, _ message: String = "") -> DBusError {
        DBusError(.remote, name: name, message: message)
    }

    static let failures: [(DBusError, ConnectFailure)] = [
        (remote("org.bluez.Error.Failed", "le-connection-abort-by-local"), .again),
        (remote("org.bluez.Error.Failed", "Software caused connection abort"), .again),
        (remote("org.bluez.Error.InProgress", "In Progress"), .again),
        (DBusError(.timeout, message: "late"), .again),
        (remote("org.freedesktop.DBus.Error.UnknownObject"), .rescan),
        (remote("org.bluez.Error.DoesNotExist"), .rescan), (DBusError(.cancelled, message: ""), .cancelled),
    ]

    @Test("a failed connection is tried again, or heard anew", arguments: failures)
    func connecting(error: DBusError, failure: ConnectFailure) {
        #expect(ConnectFailure(error, adapter: Self.adapter) == failure)
    }

    static let ofThisMachine: [(DBusError, BluetoothError.Code, String)] = [
        (remote("org.bluez.Error.NotReady"), .poweredOff, "bluetoothctl power on"),
        (remote("org.bluez.Error.Blocked"), .blocked, "airplane mode"),
        (remote("org.bluez.Error.NotPermitted"), .accessDenied, "group bluetooth"),
        (remote("org.freedesktop.DBus.Error.AccessDenied"), .accessDenied, "group bluetooth"),
        (remote("org.freedesktop.DBus.Error.ServiceUnknown"), .noBlueZ, "systemctl start bluetooth"),
    ]

    @Test("what only a person can mend is theirs, and told with its remedy", arguments: ofThisMachine)
    func machine(error: DBusError, code: BluetoothError.Code, remedy: String) {
        guard case .machine(let told) = ConnectFailure(error, adapter: Self.adapter) else {
            Issue.record("\(error) is tried again")
            return
        }
        #expect(told.code == code && told.isOfThisMachine)
        #expect(told.message.contains(remedy), "\(told)")
    }

    @Test("a lost bus is told at once, and nobody is sent to mend a machine that may be fine again")
    func lostBus() {
        guard case .machine(let told) = ConnectFailure(DBusError(.disconnected, message: ""), adapter: Self.adapter)
        else {
            Issue.record("it is tried again through what is gone")
            return
        }
        #expect(told.code == .radioLost && !told.isOfThisMachine)
    }

    @Test("an adapter that fails in a way that nobody knows is restarted")
    func unknownFailure() {
        let told = BluetoothError(adapter: Self.adapter, Self.remote("org.bluez.Error.Failed", "Input/output error"))
        #expect(told.code == .connectionFailed)
        #expect(told.message.contains("hci0 (Input/output error)") && told.message.contains("systemctl restart"))
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
