// SPDX-License-Identifier: Apache-2.0
import RainDBus
import Synchronization
import Testing

@testable import ProtocommTransports

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

    @Test("a failed connection is tried again, or the board is searched for again", arguments: failures)
    func connecting(error: DBusError, failure: ConnectFailure) {
        #expect(ConnectFailure(error, adapter: Self.adapter) == failure)
    }

    static let ofThisMachine: [(DBusError, BluetoothError.Code, String)] = [
        (remote("org.bluez.Error.Blocked"), .blocked, "airplane mode"),
        (remote("org.bluez.Error.NotPermitted"), .accessDenied, "group bluetooth"),
        (remote("org.freedesktop.DBus.Error.AccessDenied"), .accessDenied, "group bluetooth"),
    ]

    static let passing: [(DBusError, BluetoothError.Code, String)] = [
        (remote("org.bluez.Error.NotReady"), .poweredOff, "bluetoothctl power on"),
        (remote("org.freedesktop.DBus.Error.ServiceUnknown"), .noBlueZ, "systemctl restart bluetooth"),
        (remote("org.freedesktop.DBus.Error.NoReply"), .noBlueZ, "systemctl restart bluetooth"),
        (remote("org.freedesktop.DBus.Error.Spawn.ChildExited"), .noBlueZ, "systemctl restart bluetooth"),
        (remote("org.freedesktop.DBus.Error.Disconnected"), .noBlueZ, "systemctl restart bluetooth"),
    ]

    @Test(
        "BlueZ or an adapter that has just come back is not ready for a moment, and told only where that lasts",
        arguments: passing)
    func notReady(error: DBusError, code: BluetoothError.Code, remedy: String) throws {
        let failure = ConnectFailure(error, adapter: Self.adapter)
        guard case .passing(let told) = failure else {
            Issue.record("\(failure)")
            return
        }
        #expect(told.code == code && told.message.contains(remedy), "\(told)")
        let now = ContinuousClock.now
        var attempts = ConnectAttempts(within: .seconds(60), hasForgotten: false, now: now)
        #expect(try attempts.failed(.failed(failure, error), board: "PROV_1", now: now) == .listenAgain(.zero))
        _ = try attempts.failed(.failed(failure, error), board: "PROV_1", now: now + .seconds(4))
        // Anything else between them says that it was over.
        _ = try attempts.failed(.lost, board: "PROV_1", now: now + .seconds(4))
        _ = try attempts.failed(.failed(failure, error), board: "PROV_1", now: now + .seconds(6))
        #expect(throws: told) {
            try attempts.failed(.failed(failure, error), board: "PROV_1", now: now + .seconds(11))
        }
    }

    @Test("a part of an attempt that hangs leaves time for another link")
    func shares() {
        #expect(ConnectShare.connect(of: .seconds(30)) == .seconds(10))
        #expect(ConnectShare.connect(of: .seconds(15)) == .seconds(5))
        #expect(ConnectShare.connect(of: .seconds(6)) == .seconds(4))
        #expect(ConnectShare.connect(of: .seconds(3)) == .seconds(3))
        #expect(ConnectShare.connect(of: .seconds(-1)) == .zero)
        #expect(ConnectShare.resolve(of: .seconds(30)) == .seconds(12))
        #expect(ConnectShare.resolve(of: .seconds(16)) == .seconds(8))
    }

    @Test("a fault that only a person can fix is reported with its remedy", arguments: ofThisMachine)
    func machine(error: DBusError, code: BluetoothError.Code, remedy: String) {
        guard case .machine(let told) = ConnectFailure(error, adapter: Self.adapter) else {
            Issue.record("\(error) is tried again")
            return
        }
        #expect(told.code == code && told.isOfThisMachine)
        #expect(told.message.contains(remedy), "\(told)")
    }

    @Test("a lost bus is reported at once, without advice for a machine that may be fine again")
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
        let told = BluetoothError(adapter: Self.adapter, Self.remote("org.bluez.Error.Failed", "Protocol error"))
        #expect(told.code == .connectionFailed)
        #expect(told.message.contains("hci0 (Protocol error)") && told.message.contains("systemctl restart"))
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
        let calls = Mutex<[String]>([])
        let call: PairingAgent.Call = { (call) async throws(DBusError) in calls.withLock { $0.append(call.member) } }
        func ask(_ member: String, _ device: String, path: String = PairingAgent.path) -> Bool {
            let message = DBusMessage(
                kind: .call, serial: 1, replySerial: nil, sender: ":1.1", destination: nil, path: path,
                interface: "org.bluez.Agent1", member: member, errorName: nil, expectsReply: true,
                arguments: [.objectPath(device)])
            if case .reply = agent.answer(message) { return true }
            return false
        }
        #expect(!ask("RequestAuthorization", "/d"))
        try await agent.allow("/d", or: ["/end"], call)
        #expect(ask("RequestAuthorization", "/end"))
        for member in ["RequestAuthorization", "RequestConfirmation", "AuthorizeService"] {
            #expect(ask(member, "/d"))
            #expect(!ask(member, "/other"))
        }
        #expect(!ask("RequestPinCode", "/d"))
        #expect(!ask("RequestPasskey", "/d"))
        #expect(!ask("RequestAuthorization", "/d", path: "/elsewhere"))
        try await agent.allow("/e", call)
        await agent.forbid("/d", call)
        #expect(!ask("RequestAuthorization", "/d") && !ask("RequestAuthorization", "/end"))
        #expect(ask("RequestAuthorization", "/e"))
        #expect(calls.withLock { $0 } == ["RegisterAgent", "RequestDefaultAgent"])
        await agent.forbid("/e", call)
        #expect(calls.withLock { $0.last } == "UnregisterAgent")
        #expect(ask("Cancel", "/d"))
    }
}
