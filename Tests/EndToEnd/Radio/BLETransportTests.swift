// SPDX-License-Identifier: Apache-2.0
import Logging
import Protocomm
import ProtocommCore
import ProtocommTransports
import RainDBus
import RainKitTesting
import TestSupport
import Testing

@Suite("Protocomm over BLE")
struct BLETransportTests {
    private static let silent = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }

    private func transport(
        _ address: String, _ board: BoardFilter = .name("prov_ECHO01"), times: BLETransport.Times = .init()
    ) -> BLETransport {
        BLETransport(to: board, times: times) { () async throws(BluetoothError) in
            try await BluetoothCentral.open(bus: .at(address), logger: Self.silent)
        }
    }

    private func expect(
        _ request: [UInt8], _ endpoint: Endpoint, _ answer: [UInt8], _ transport: BLETransport,
        at location: SourceLocation = #_sourceLocation
    ) async throws {
        let answered = try await transport.exchange(request, on: endpoint)
        #expect(answered == answer, sourceLocation: location)
    }

    private func failure(_ body: () async throws(BoardError) -> [UInt8]) async -> BoardError? {
        do {
            _ = try await body()
            return nil
        } catch { return error }
    }

    @Test("keeps every promise of a transport")
    func conformance() async throws {
        try await withEchoRadio { _, address in
            try await TransportConformance.check { transport(address) }
        }
    }

    @Test("writes with response, then reads, and touches nothing before the first exchange")
    func order() async throws {
        try await withEchoRadio { radio, address in
            let transport = transport(address)
            #expect(radio.log.isEmpty)
            try await expect([1, 2], .config, [2, 1], transport)
            try await expect([3, 4, 5], .session, [5, 4, 3], transport)
            await transport.close()
            // Nobody waits for the answer to the disconnect call, so it may still be on its way.
            try await radio.called("RemoveDevice")
            try await radio.called("UnregisterAgent")
            let log = radio.log.filter { $0 != "GetAll" }
            let begin = [
                "GetManagedObjects", "SetDiscoveryFilter", "StartDiscovery", "StopDiscovery", "RegisterAgent",
                "RequestDefaultAgent", "Connect",
            ]
            let names = ["ReadValue", "ReadValue", "ReadValue"]
            #expect(
                log == begin + names + ["WriteValue", "ReadValue", "WriteValue", "ReadValue"] + [
                    "Disconnect", "RemoveDevice", "UnregisterAgent",
                ], "\(log)")
        }
    }

    @Test("tries again when a connection is aborted, and searches again when the board vanished")
    func retries() async throws {
        var behaviour = EchoRadio.Behaviour()
        behaviour.connectErrors =
            Array(repeating: ("org.bluez.Error.Failed", "le-connection-abort-by-local"), count: 5)
            + [("org.freedesktop.DBus.Error.UnknownObject", "gone")]
        try await withEchoRadio(behaviour) { radio, address in
            let transport = transport(address)
            try await expect([1], .version, [1], transport)
            #expect(radio.log.filter { $0 == "Connect" }.count == 7)
            #expect(radio.log.filter { $0 == "StartDiscovery" }.count == 2)
            await transport.close()
        }
    }

    @Test("gives up in time, and says after how many attempts")
    func exhausted() async throws {
        var behaviour = EchoRadio.Behaviour()
        behaviour.connectErrors = Array(
            repeating: ("org.bluez.Error.Failed", "le-connection-abort-by-local"), count: 1000)
        try await withEchoRadio(behaviour) { _, address in
            let transport = transport(address, times: .init(connect: .seconds(6)))
            let error = await failure { () throws(BoardError) in try await transport.exchange([1], on: .version) }
            #expect(error?.code == .unreachable)
            #expect(error?.message.contains("attempts") == true)
            #expect(error?.reason == "connection_failed")
            await transport.close()
        }
    }

    @Test("a cancelled connection is called off at BlueZ, and nobody waits for that", .timeLimit(.minutes(5)))
    func cancelledConnecting() async throws {
        var behaviour = EchoRadio.Behaviour()
        behaviour.hangsAtConnect = true
        try await withEchoRadio(behaviour) { radio, address in
            let transport = transport(address)
            let exchange = Task { try await transport.exchange([1], on: .version) }
            try await radio.called("Connect")
            let began = ContinuousClock.now
            exchange.cancel()
            await #expect { try await exchange.value } throws: { ($0 as? BoardError)?.code == .cancelled }
            #expect(ContinuousClock.now - began < Timings.limit(.seconds(4)))
            try await radio.called("Disconnect")
            await transport.close()
        }
    }

    static let machineErrors: [(String, String, BluetoothError.Code, String)] = [
        ("org.bluez.Error.Blocked", "Blocked through rfkill", .blocked, "airplane mode"),
        ("org.bluez.Error.NotPermitted", "Not permitted", .accessDenied, "group bluetooth"),
    ]

    @Test("a problem of this machine is not tried again, and is reported with its remedy", arguments: machineErrors)
    func machine(name: String, text: String, code: BluetoothError.Code, remedy: String) async throws {
        var behaviour = EchoRadio.Behaviour()
        behaviour.connectErrors = [(name, text)]
        try await withEchoRadio(behaviour) { radio, address in
            let transport = transport(address)
            let error = await failure { () throws(BoardError) in try await transport.exchange([1], on: .version) }
            #expect(error?.code == .unreachable)
            #expect(error?.reason == code.name)
            #expect(error?.message.contains(remedy) == true)
            #expect(radio.log.filter { $0 == "Connect" }.count == 1)
            await transport.close()
        }
    }

    @Test("a link that breaks is reported at once, and restored only by a new session")
    func brokenLink() async throws {
        var behaviour = EchoRadio.Behaviour()
        behaviour.breaksAtWrite = 2
        try await withEchoRadio(behaviour) { radio, address in
            let transport = transport(address)
            try await expect([1], .session, [1], transport)
            let first = await failure { () throws(BoardError) in try await transport.exchange([2], on: .config) }
            #expect(first?.code == .lost)
            let second = await failure { () throws(BoardError) in try await transport.exchange([3], on: .config) }
            #expect(second?.code == .lost)
            #expect(radio.log.filter { $0 == "Connect" }.count == 1)
            try await expect([4], .session, [4], transport)
            try await expect([5], .config, [5], transport)
            #expect(radio.log.filter { $0 == "Connect" }.count == 2)
            await transport.close()
        }
    }

    /// Of the board's own attributes, which went a moment before the link, as bluetoothd 5.66 says it.
    static let partingErrors = [
        ("org.bluez.Error.Failed", "Operation failed with ATT error: 0x0e"),
        ("org.bluez.Error.NotSupported", "Operation is not supported"),
        ("org.bluez.Error.NotPermitted", "Write not permitted"),
        // Of a board that lost its keys.
        ("org.bluez.Error.NotPermitted", "Not paired"),
    ]

    @Test("what BlueZ says of a request is a lost link where the link's end follows", arguments: partingErrors)
    func unlikely(name: String, text: String) async throws {
        var behaviour = EchoRadio.Behaviour()
        behaviour.breaksAtWrite = 2
        behaviour.breakError = (name, text)
        behaviour.device = ["Paired": .bool(true)]
        behaviour.pairError = ("org.bluez.Error.AuthenticationFailed", "Authentication Failed")
        try await withEchoRadio(behaviour) { radio, address in
            let transport = transport(address)
            try await expect([1], .session, [1], transport)
            let error = await failure { () throws(BoardError) in try await transport.exchange([2], on: .config) }
            #expect(error?.code == .lost)
            try await expect([4], .session, [4], transport)
            await transport.close()
        }
    }

    @Test(
        "a board that takes its services away is lost, even where the link stays", arguments: partingErrors.dropLast())
    func withoutServices(name: String, text: String) async throws {
        var behaviour = EchoRadio.Behaviour()
        behaviour.breaksAtWrite = 2
        behaviour.breakError = (name, text)
        behaviour.keepsLinkAtBreak = true
        try await withEchoRadio(behaviour) { radio, address in
            let transport = transport(address)
            try await expect([1], .session, [1], transport)
            let error = await failure { () throws(BoardError) in try await transport.exchange([2], on: .config) }
            #expect(error?.code == .lost)
            try await expect([4], .session, [4], transport)
            #expect(radio.log.filter { $0 == "Connect" }.count == 2)
            await transport.close()
        }
    }

    @Test("an endpoint that is missing is looked for once with a fresh memory")
    func staleCache() async throws {
        var behaviour = EchoRadio.Behaviour()
        behaviour.endpoints.append("ch_resp")
        try await withEchoRadio(behaviour) { radio, address in
            radio.change { $0.endpoints.removeLast() }
            let transport = transport(address)
            try await expect([1], .version, [1], transport)
            let error = await failure { () throws(BoardError) in
                try await transport.exchange([1], on: .challengeResponse)
            }
            #expect(error?.code == .lost)
            radio.change { $0.endpoints.append("ch_resp") }
            try await expect([1], .session, [1], transport)
            #expect(radio.log.contains("RemoveDevice"))
            try await expect([7, 8], .challengeResponse, [8, 7], transport)
            let absent = await failure { () throws(BoardError) in try await transport.exchange([1], on: .claim) }
            #expect(absent?.code == .noSuchEndpoint)
            await transport.close()
        }
    }

    /// bluetoothd 5.66 does so when it answers another call in between (`g_dbus_flush` in gdbus/object.c).
    @Test("the services may be announced after BlueZ has reported that they are known")
    func lateServices() async throws {
        var behaviour = EchoRadio.Behaviour()
        behaviour.announcesServicesLate = true
        try await withEchoRadio(behaviour) { radio, address in
            let transport = transport(address)
            let answer = try await transport.exchange([1, 2], on: .version)
            #expect(answer == [2, 1])
            #expect(radio.log.count { $0 == "Connect" } == 1)
            await transport.close()
        }
    }

    @Test("the signals of the first connection may be missing")
    func missingSignals() async throws {
        var behaviour = EchoRadio.Behaviour()
        behaviour.hidesConnected = true
        try await withEchoRadio(behaviour) { _, address in
            let transport = transport(address)
            try await expect([1, 2, 3], .config, [3, 2, 1], transport)
            await transport.close()
        }
    }

    static let operationErrors: [(String, String, BoardError.Code)] = [
        ("org.bluez.Error.Failed", "Operation failed with ATT error: 0x04", .refused),
        ("org.bluez.Error.Failed", "Operation failed with ATT error: 0x80 (Unknown)", .refused),
        ("org.bluez.Error.Failed", "Operation failed with ATT error: 0x85", .refused),
        // Neither reports the result of the request.
        ("org.bluez.Error.Failed", "Operation failed with ATT error: 0x0e (Unlikely Error)", .lost),
        ("org.bluez.Error.Failed", "Operation failed with ATT error: 0x11", .lost),
        ("org.bluez.Error.NotSupported", "Operation is not supported", .unreachable),
        ("org.bluez.Error.NotPermitted", "Write not permitted", .unreachable),
        ("org.freedesktop.DBus.Error.Spawn.ChildExited", "Launch helper exited with unknown return code 1", .lost),
        ("org.bluez.Error.InvalidArguments", "Invalid Length", .tooLong),
        ("org.bluez.Error.Failed", "Not connected", .lost),
        ("org.freedesktop.DBus.Error.UnknownObject", "gone", .lost),
        ("org.freedesktop.DBus.Error.NoReply", "late", .timeout),
        // Pairing is tried once, and then it is the board's fault.
        ("org.bluez.Error.NotPermitted", "Not paired", .unreachable),
        ("org.bluez.Error.InProgress", "In Progress", .lost),
    ]

    @Test("what BlueZ says of an operation becomes what a session understands", arguments: operationErrors)
    func operations(name: String, text: String, code: BoardError.Code) async throws {
        try await withEchoRadio { radio, address in
            let transport = transport(address, times: .init(exchange: .seconds(5)))
            try await expect([1], .version, [1], transport)
            radio.change { $0.operationError = (name, text) }
            let error = await failure { () throws(BoardError) in try await transport.exchange([1], on: .config) }
            #expect(error?.code == code, "\(String(describing: error))")
            #expect(error?.endpoint == .config)
            if text == "Not paired" { #expect(radio.log.filter { $0 == "Pair" }.count == 1) }
            await transport.close()
        }
    }

    @Test("a link that is busy, and then silent to the end of the exchange, is given up for another")
    func stuck() async throws {
        try await withEchoRadio { radio, address in
            let transport = transport(address, times: .init(exchange: .seconds(5)))
            try await expect([1], .version, [1], transport)
            radio.change { $0.isStuck = true }
            let error = await failure { () throws(BoardError) in try await transport.exchange([1], on: .config) }
            #expect(error?.code == .lost)
            radio.change { $0.isStuck = false }
            try await expect([1], .session, [1], transport)
            await transport.close()
        }
    }

    @Test("a board of another name is not used, and the missing board is reported")
    func otherBoard() async throws {
        try await withEchoRadio { _, address in
            let transport = transport(address, .name("PROV_other"), times: .init(connect: .milliseconds(300)))
            #expect(transport.peer == "PROV_other")
            let error = await failure { () throws(BoardError) in try await transport.exchange([1], on: .version) }
            #expect(error?.code == .unreachable)
            #expect(error?.message.contains("PROV_other") == true)
            #expect(error?.reason == "not_found")
            await transport.close()
        }
    }

    @Test("one that is nowhere is not looked for beyond the caller's own deadline", .timeLimit(.minutes(5)))
    func absentByDeadline() async throws {
        try await withEchoRadio { _, address in
            let began = ContinuousClock.now
            let times = BLETransport.Times(connect: .seconds(300), foundBy: began + .milliseconds(300))
            let transport = transport(address, .name("PROV_other"), times: times)
            for _ in 0..<2 {
                let error = await failure { () throws(BoardError) in
                    try await transport.exchange([1], on: .version)
                }
                #expect(error?.code == .unreachable && error?.reason == "not_found")
            }
            await transport.close()
        }
    }
}
