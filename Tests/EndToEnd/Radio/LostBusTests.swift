// SPDX-License-Identifier: Apache-2.0
import Logging
import Protocomm
import ProtocommCore
import ProtocommTransports
import RainDBus
import Synchronization
import TestSupport
import Testing

/// D-Bus that is restarted, and an adapter that comes back under another name: for a process that runs for years.
@Suite("Bluetooth that is lost and comes back", .timeLimit(.minutes(5)))
struct LostBusTests {
    private static let silent = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }

    private static let silence: EchoRadio.Behaviour = {
        var behaviour = EchoRadio.Behaviour()
        behaviour.isSilent = true
        return behaviour
    }()

    /// A bus that ends, and starts again in the same place, with a radio each time.
    private final class Machine {
        let folder: TemporaryFolder
        let address: String
        private var bus: SessionBusDaemon?
        private(set) var radio: EchoRadio?

        init(_ folder: TemporaryFolder) {
            self.folder = folder
            // Each daemon has its own id, which is not asked for.
            address = "unix:path=" + folder.file("bus")
        }

        @discardableResult
        func start(_ behaviour: EchoRadio.Behaviour = EchoRadio.Behaviour()) async throws -> EchoRadio {
            bus = try await SessionBusDaemon(in: folder)
            let radio = try await EchoRadio(on: address, behaviour)
            self.radio = radio
            return radio
        }

        func end() async throws {
            try await bus?.end()
            await radio?.stop()
            (bus, radio) = (nil, nil)
        }
    }

    private func withMachine(_ body: (Machine) async throws -> Void) async throws {
        try await withTemporaryFolder { folder in
            let machine = Machine(folder)
            do { try await body(machine) } catch {
                try? await machine.end()
                throw error
            }
            try await machine.end()
        }
    }

    private func transport(_ central: BluetoothCentral) -> BLETransport {
        BLETransport(to: .name("PROV_echo01"), logger: Self.silent) { () throws(BluetoothError) in central }
    }

    private func failure(_ transport: BLETransport, on endpoint: Endpoint) async -> BoardError? {
        do {
            _ = try await transport.exchange([1], on: endpoint)
            return nil
        } catch { return error }
    }

    @Test("serves the next board, and the one whose link it was")
    func restart() async throws {
        try await withMachine { machine in
            try await machine.start()
            let central = try await BluetoothCentral.open(bus: .at(machine.address), logger: Self.silent)
            let board = transport(central)
            #expect(try await board.exchange([1, 2], on: .session) == [2, 1])
            try await machine.end()
            // Without a bus there is no link: this is reported at once, and the session must start again.
            #expect(await failure(board, on: .config)?.code == .lost)
            try await machine.start()
            #expect(try await board.exchange([1, 2], on: .session) == [2, 1])
            await board.close()
            let next = transport(central)
            #expect(try await next.exchange([1, 2, 3], on: .version) == [3, 2, 1])
            await next.close()
            central.close()
        }
    }

    @Test("is waited for by whoever begins meanwhile")
    func meanwhile() async throws {
        try await withMachine { machine in
            try await machine.start()
            let central = try await BluetoothCentral.open(bus: .at(machine.address), logger: Self.silent)
            try await machine.end()
            let board = transport(central)
            let exchange = Task { try await board.exchange([1, 2], on: .session) }
            let others = (0..<10).map { _ in
                Task { try await central.discover(.anyBoard, for: .seconds(120)) { _ in false } }
            }
            let radio = try await machine.start()
            #expect(try await exchange.value == [2, 1])
            for other in others { try await other.value }
            // One connection for all.
            #expect(radio.log.count { $0 == "GetManagedObjects" } == 1)
            await board.close()
            central.close()
        }
    }

    @Test("restarts a connection that is being made")
    func connecting() async throws {
        try await withMachine { machine in
            var behaviour = EchoRadio.Behaviour()
            behaviour.hangsAtConnect = true
            let radio = try await machine.start(behaviour)
            let central = try await BluetoothCentral.open(bus: .at(machine.address), logger: Self.silent)
            let board = transport(central)
            let exchange = Task { try await board.exchange([1, 2], on: .version) }
            try await radio.called("Connect")
            try await machine.end()
            try await machine.start()
            #expect(try await exchange.value == [2, 1])
            await board.close()
            central.close()
        }
    }

    @Test("breaks an exchange that is under way, as every lost link does")
    func exchanging() async throws {
        try await withMachine { machine in
            let radio = try await machine.start()
            let central = try await BluetoothCentral.open(bus: .at(machine.address), logger: Self.silent)
            let board = transport(central)
            #expect(try await board.exchange([1, 2], on: .session) == [2, 1])
            // Busy once, and then silent.
            radio.change { $0.isStuck = true }
            let exchange = Task { await failure(board, on: .config) }
            try await radio.called("WriteValue", times: 3)
            try await machine.end()
            #expect(await exchange.value?.code == .lost)
            try await machine.start()
            #expect(try await board.exchange([1, 2], on: .session) == [2, 1])
            await board.close()
            central.close()
        }
    }

    @Test("is listened to on and on")
    func listening() async throws {
        try await withMachine { machine in
            let central: BluetoothCentral
            var radio = try await machine.start(Self.silence)
            central = try await BluetoothCentral.open(bus: .at(machine.address), logger: Self.silent)
            let heard = Mutex<[String]>([])
            let listening = Task {
                try await central.discover(.anyBoard, for: .seconds(120)) { board in
                    heard.withLock { $0.append(board.label) }
                    return false
                }
            }
            // Twice: the second connection is lost like the first.
            for _ in 0..<2 {
                try await radio.called("StartDiscovery")
                try await machine.end()
                radio = try await machine.start(Self.silence)
            }
            try await radio.called("StartDiscovery")
            try await machine.end()
            try await machine.start()
            try await listening.value
            #expect(heard.withLock { $0 } == ["PROV_echo01"])
            central.close()
        }
    }

    @Test("is reported with its remedy if it stays away, and again to the next caller")
    func staysAway() async throws {
        try await withMachine { machine in
            let radio = try await machine.start(Self.silence)
            let central = try await BluetoothCentral.open(bus: .at(machine.address), logger: Self.silent)
            let listening = Task { try await central.discover(.anyBoard, for: .seconds(20)) { _ in true } }
            try await radio.called("StartDiscovery")
            try await machine.end()
            await #expect { try await listening.value } throws: { ($0 as? BluetoothError)?.code == .noBus }
            await #expect {
                try await central.discover(.anyBoard, for: .milliseconds(100)) { _ in true }
            } throws: {
                ($0 as? BluetoothError)?.code == .noBus
            }
            // A cancelled wait ends at once, and so does one for a central that is closed.
            let cancelled = Task { try await central.discover(.anyBoard, for: .seconds(30)) { _ in true } }
            cancelled.cancel()
            await #expect { try await cancelled.value } throws: { ($0 as? BluetoothError)?.code == .cancelled }
            let closed = Task { try await central.discover(.anyBoard, for: .seconds(30)) { _ in true } }
            central.close()
            await #expect { try await closed.value } throws: { ($0 as? BluetoothError)?.code == .cancelled }
        }
    }

    static let choices: [(wanted: String?, isFound: Bool)] = [
        (nil, true), ("00:11:22:33:44:55", true), ("hci0", false),
    ]

    @Test("is found under another name, unless it was chosen by its name", arguments: choices)
    func moved(wanted: String?, isFound: Bool) async throws {
        try await withMachine { machine in
            let radio = try await machine.start(Self.silence)
            let central = try await BluetoothCentral.open(
                adapter: wanted, bus: .at(machine.address), logger: Self.silent)
            let heard = Mutex<[String]>([])
            let listening = Task {
                try await central.discover(.anyBoard, for: isFound ? .seconds(120) : .seconds(20)) { board in
                    heard.withLock { $0.append(board.label) }
                    return false
                }
            }
            try await radio.called("StartDiscovery")
            radio.change { $0.isSilent = false }
            for incident in [EchoRadio.Incident.plug(false), .plugAs("hci1")] { radio.befall(incident) }
            if isFound {
                try await listening.value
                #expect(heard.withLock { $0 } == ["PROV_echo01"])
                #expect(central.adapterName == "hci1")
                let board = transport(central)
                #expect(try await board.exchange([1, 2], on: .session) == [2, 1])
                await board.close()
            } else {
                await #expect { try await listening.value } throws: { ($0 as? BluetoothError)?.code == .noAdapter }
            }
            central.close()
        }
    }
}
