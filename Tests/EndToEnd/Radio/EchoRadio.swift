// SPDX-License-Identifier: Apache-2.0
import RainDBus
import Foundation
import Glibc
import RainKitTesting
import Synchronization
import TestSupport

/// A BlueZ of the tests' own, with one adapter and one board that answers on `prov-config` as ``TransportConformance/Board`` says.
///
/// It shares nothing with the simulated radio but the shape of BlueZ's objects, and serves one connection after the other.
final class EchoRadio: Sendable {
    static let adapter = "/org/bluez/hci0"
    static let device = adapter + "/dev_AA_BB_CC_DD_EE_FF"
    static let address = "AA:BB:CC:DD:EE:FF"

    struct Behaviour: Sendable {
        /// Properties of the adapter in place of the usual ones; nil for no adapter at all.
        var adapter: [String: DBusValue]? = [:]
        /// The error of the next Connect calls.
        var connectErrors: [(name: String, text: String)] = []
        /// What the next questions for all objects fail with.
        var objectErrors: [(name: String, text: String)] = []
        /// What a scan fails with, from then on.
        var scanError: (name: String, text: String)?
        /// What the next starts of a scan fail with.
        var scanErrors: [(name: String, text: String)] = []
        /// The answer to the next start of a scan is lost.
        var losesScanAnswer = false
        /// Connect is never answered.
        var hangsAtConnect = false
        /// So many calls of Connect are not answered.
        var hangingConnects = 0
        /// So many links never have their services resolved.
        var unresolvedLinks = 0
        /// ServicesResolved is announced before the services, which come with the answer to the next call.
        var announcesServicesLate = false
        /// What the next writes fail with, over a link that stays.
        var writeErrors: [(name: String, text: String)] = []
        /// After a lost link the board has another address.
        var changesAddress = false
        /// The board has these keys, and lost them: links break as soon as they are up, until BlueZ forgets it.
        var hasStaleBond = false
        /// What pairing fails with.
        var pairError: (name: String, text: String)?
        /// A write makes BlueZ pair with the board, which it has keys of then.
        var bondsAtWrite = false
        /// What every read and write fails with, from then on.
        var operationError: (name: String, text: String)?
        /// A write is answered with "in progress" once, and never again.
        var isStuck = false
        /// The link breaks in place of the answer to the write of that number, counted from 1.
        var breaksAtWrite: Int?
        /// What the write gets that the link breaks at, a moment before the link is said to have ended; nil for nothing.
        var breakError: (name: String, text: String)?
        /// The link does not break there: the board takes its services away.
        var keepsLinkAtBreak = false
        /// Endpoints that the descriptors name, by the last four digits of the characteristic.
        var endpoints = ["proto-ver", "prov-session", "prov-config"]
        /// The results of the next reads of an endpoint's name; later reads are answered.
        var nameReads: [NameRead] = []
        /// Connected goes true without a signal.
        var hidesConnected = false
        /// The board does not advertise.
        var isSilent = false
        /// BlueZ knows the board from before.
        var isKnown = false
        /// More properties of the board's.
        var device: [String: DBusValue] = [:]
    }

    enum NameRead: Sendable {
        case answered, silent
        case failing(name: String, text: String)
        /// The link ends a moment after that answer.
        case cutOff(name: String, text: String)
    }

    private struct State {
        var behaviour: Behaviour
        var log: [String] = []
        /// The methods that are done with, so that a change after them no longer reaches them.
        var done: [String] = []
        var isStopped = false
        var writes = 0
        var incidents: [Incident] = []
    }

    /// What happens to the machine's Bluetooth by itself.
    enum Incident: Sendable {
        case power(Bool)
        /// The adapter is pulled out, or plugged in.
        case plug(Bool)
        /// It is plugged in, and gets another name.
        case plugAs(String)
        /// The link ends.
        case linkEnds
        /// What scans fail with from then on; nil for nothing.
        case scanFails((name: String, text: String)?)
        /// BlueZ leaves the bus, or comes back.
        case leave, comeBack
    }

    private let state: Mutex<State>
    private let over: AsyncStream<Never>

    init(on address: String, _ behaviour: Behaviour = Behaviour()) async throws {
        state = Mutex(State(behaviour: behaviour))
        let (over, end) = AsyncStream.makeStream(of: Never.self)
        self.over = over
        let started = await withCheckedContinuation { (ready: CheckedContinuation<Result<Void, any Error>, Never>) in
            Thread.detachNewThread { [self] in
                serve(address, ready)
                end.finish()
            }
        }
        try started.get()
    }

    /// The methods that were called, in order.
    var log: [String] { state.withLock { $0.log } }

    func change(_ body: (inout Behaviour) -> Void) { state.withLock { body(&$0.behaviour) } }

    /// Makes it happen, in its turn.
    func befall(_ incident: Incident) { state.withLock { $0.incidents.append(incident) } }

    /// Waits until a method was called that often, and what it does has happened.
    func called(_ member: String, times count: Int = 1) async throws {
        let end = ContinuousClock.now + .waitLimit
        while ContinuousClock.now < end {
            guard state.withLock({ $0.done.count { $0 == member } }) < count else { return }
            try await Task.sleep(for: .milliseconds(10))
        }
        throw ProcessError("no \(member): \(log)")
    }

    func stop() async {
        state.withLock { $0.isStopped = true }
        for await _ in over {}
    }

    private func serve(_ address: String, _ ready: CheckedContinuation<Result<Void, any Error>, Never>) {
        let bus: DBusConnection
        do {
            bus = try DBusConnection(.at(address))
            _ = try bus.callAndWait(.bus("RequestName", [.string("org.bluez"), .uint32(4)]))
        } catch { return ready.resume(returning: .failure(error)) }
        ready.resume(returning: .success(()))
        let radio = Radio(bus: bus, shared: self)
        while !state.withLock({ $0.isStopped }) {
            do {
                // What was to happen before a request was made happens before it is served.
                while let message = try bus.process() {
                    try befall(radio)
                    try radio.take(message)
                }
                try befall(radio)
            } catch { return }
            var waiting = pollfd(fd: bus.descriptor, events: bus.events, revents: 0)
            _ = Glibc.poll(&waiting, 1, 10)
        }
    }

    private func befall(_ radio: Radio) throws {
        let incidents = state.withLock { state in
            defer { state.incidents = [] }
            return state.incidents
        }
        for incident in incidents { try radio.befall(incident) }
    }

    /// What only the radio's thread sees.
    private final class Radio {
        let bus: DBusConnection
        let shared: EchoRadio
        var isConnected = false
        var hasSaidBusy = false
        var isSeen: Bool
        var isPowered = true
        var isPlugged = true
        var isBonded = false
        var isUnresolved = false
        /// What is left of a late announcement: the property, and then the services.
        var owesResolution = false
        var owesAttributes = false
        var address = EchoRadio.address
        /// Connections to the bus that scan.
        var scanners: Set<String> = []
        var adapterPath = EchoRadio.adapter
        var devicePath: String { adapterPath + "/dev_" + address.replacingOccurrences(of: ":", with: "_") }
        var values: [String: [UInt8]] = [:]

        init(bus: DBusConnection, shared: EchoRadio) {
            self.bus = bus
            self.shared = shared
            isSeen = shared.state.withLock { $0.behaviour.isKnown }
        }

        var behaviour: Behaviour { shared.state.withLock { $0.behaviour } }

        func take(_ message: DBusMessage) throws {
            guard message.kind == .call, let member = message.member, let path = message.path else { return }
            shared.state.withLock { $0.log.append(member) }
            defer { shared.state.withLock { $0.done.append(member) } }
            if owesAttributes {
                owesAttributes = false
                try addAttributes()
            }
            func reply(_ values: [DBusValue] = []) throws { try bus.send(.reply(to: message, values)) }
            func fail(_ error: (name: String, text: String)) throws {
                try bus.send(.error(to: message, name: error.name, message: error.text))
            }
            switch member {
            case "GetManagedObjects":
                let error = shared.state.withLock { state in
                    state.behaviour.objectErrors.isEmpty ? nil : state.behaviour.objectErrors.removeFirst()
                }
                if let error { return try fail(error) }
                try reply([objects])
            case "GetAll":
                guard path == devicePath else {
                    return try fail(("org.freedesktop.DBus.Error.UnknownObject", ""))
                }
                try reply([.properties(device)])
                guard owesResolution else { return }
                (owesResolution, isUnresolved, owesAttributes) = (false, false, true)
                try changed([("ServicesResolved", .bool(true))])
            case "SetDiscoveryFilter", "RegisterAgent", "RequestDefaultAgent", "UnregisterAgent": try reply()
            case "Pair":
                if let error = behaviour.pairError { return try fail(error) }
                try reply()
            case "StartDiscovery": try startScan(message.sender ?? "", reply, fail)
            case "StopDiscovery":
                guard scanners.remove(message.sender ?? "") != nil else {
                    return try fail(("org.bluez.Error.Failed", "No discovery started"))
                }
                try reply()
            case "RemoveDevice":
                (isSeen, isBonded) = (false, false)
                shared.change { $0.hasStaleBond = false }
                try removed(devicePath, "org.bluez.Device1")
                try reply()
            case "Connect":
                let error = shared.state.withLock { state in
                    state.behaviour.connectErrors.isEmpty ? nil : state.behaviour.connectErrors.removeFirst()
                }
                if let error { return try fail(error) }
                let hangs = shared.state.withLock { state in
                    state.behaviour.hangingConnects -= 1
                    return state.behaviour.hangingConnects >= 0
                }
                if hangs || behaviour.hangsAtConnect { return }
                isConnected = true
                if !behaviour.hidesConnected { try changed([("Connected", .bool(true))]) }
                try reply()
                if behaviour.hasStaleBond { return try dropLink() }
                let isResolved = shared.state.withLock { state in
                    state.behaviour.unresolvedLinks -= 1
                    return state.behaviour.unresolvedLinks < 0
                }
                guard isResolved else { return isUnresolved = true }
                if behaviour.announcesServicesLate { return (isUnresolved, owesResolution) = (true, true) }
                isUnresolved = false
                try addAttributes()
                if !behaviour.hidesConnected { try changed([("ServicesResolved", .bool(true))]) }
            case "Disconnect":
                try reply()
                try dropLink()
            case "WriteValue": try write(message, path, reply, fail)
            case "ReadValue":
                if path.contains("/desc") { return try readName(path, reply, fail) }
                if let error = behaviour.operationError { return try fail(error) }
                try reply([.bytes(values[path] ?? [])])
            default: try fail(("org.freedesktop.DBus.Error.UnknownMethod", member))
            }
        }

        private func write(
            _ message: DBusMessage, _ path: String, _ reply: ([DBusValue]) throws -> Void,
            _ fail: ((name: String, text: String)) throws -> Void
        ) throws {
            if let error = behaviour.operationError { return try fail(error) }
            let error = shared.state.withLock { state in
                state.behaviour.writeErrors.isEmpty ? nil : state.behaviour.writeErrors.removeFirst()
            }
            if let error { return try fail(error) }
            if behaviour.bondsAtWrite, !isBonded {
                isBonded = true
                try changed([("Paired", .bool(true)), ("Bonded", .bool(true))])
            }
            let count = shared.state.withLock { state in
                state.writes += 1
                return state.writes
            }
            if behaviour.isStuck {
                guard !hasSaidBusy else { return }
                hasSaidBusy = true
                return try fail(("org.bluez.Error.InProgress", "In Progress"))
            }
            if behaviour.breaksAtWrite == count {
                if let error = behaviour.breakError { try fail(error) }
                return try behaviour.keepsLinkAtBreak ? removeAttributes() : dropLink()
            }
            let request = message.arguments.first?.byteArray ?? []
            guard request.count <= 512 else { return try fail(("org.bluez.Error.InvalidArguments", "Invalid Length")) }
            switch TransportConformance.Board.reply(to: request) {
            case .answer(let answer):
                values[path] = answer
                try reply([])
            case .refuse: try fail(("org.bluez.Error.Failed", "Operation failed with ATT error: 0x04"))
            case .silence: break
            }
        }

        // MARK: objects

        private var device: [(String, DBusValue)] {
            var all: [(String, DBusValue)] = [
                ("Address", .string(address)), ("Alias", .string("PROV_echo01")),
                ("Name", .string("PROV_echo01")), ("Adapter", .objectPath(adapterPath)),
                ("Connected", .bool(isConnected)), ("ServicesResolved", .bool(isConnected && !isUnresolved)),
                ("Paired", .bool(isBonded || behaviour.hasStaleBond)),
                ("UUIDs", .strings(["021a9004-0382-4aea-bff4-6b3f1c5adfb4"])),
            ]
            if !isConnected { all.append(("RSSI", .int16(-50))) }
            all += behaviour.device.map { ($0.key, $0.value) }
            return all
        }

        private var objects: DBusValue {
            var entries: [DBusEntry] = []
            func add(_ path: String, _ interface: String, _ properties: [(String, DBusValue)]) {
                entries.append(
                    DBusEntry(
                        .objectPath(path),
                        .dictionary([DBusEntry(.string(interface), .properties(properties))], key: "s", value: "a{sv}"))
                )
            }
            if let adapter { add(adapterPath, "org.bluez.Adapter1", adapter) }
            if isSeen { add(devicePath, "org.bluez.Device1", device) }
            return .dictionary(entries, key: "o", value: "a{sa{sv}}")
        }

        private var adapter: [(String, DBusValue)]? {
            guard isPlugged, let changed = behaviour.adapter else { return nil }
            var properties: [String: DBusValue] = [
                "Address": .string("00:11:22:33:44:55"), "Powered": .bool(isPowered),
                "Roles": .strings(["central", "peripheral"]),
            ]
            properties.merge(changed) { $1 }
            return properties.map { ($0.key, $0.value) }
        }

        func befall(_ incident: Incident) throws {
            switch incident {
            case .linkEnds: try dropLink()
            case .power(let isOn):
                isPowered = isOn
                if !isOn { scanners = [] }
                try changed([("Powered", .bool(isOn))], at: adapterPath, "org.bluez.Adapter1")
            case .plug(let isPlugged):
                self.isPlugged = isPlugged
                if !isPlugged { scanners = [] }
                if let adapter { return try added(adapterPath, "org.bluez.Adapter1", adapter) }
                try removed(adapterPath, "org.bluez.Adapter1")
            case .plugAs(let name):
                (isPlugged, isSeen, isConnected) = (true, false, false)
                adapterPath = "/org/bluez/" + name
                if let adapter { try added(adapterPath, "org.bluez.Adapter1", adapter) }
            case .scanFails(let error): shared.change { $0.scanError = error }
            case .leave:
                scanners = []
                try bus.send(.call(.bus("ReleaseName", [.string("org.bluez")])))
            case .comeBack: try bus.send(.call(.bus("RequestName", [.string("org.bluez"), .uint32(4)])))
            }
        }

        private func startScan(
            _ sender: String, _ reply: ([DBusValue]) throws -> Void,
            _ fail: ((name: String, text: String)) throws -> Void
        ) throws {
            guard isPowered else { return try fail(("org.bluez.Error.NotReady", "Resource Not Ready")) }
            let next = shared.state.withLock { state in
                state.behaviour.scanErrors.isEmpty ? nil : state.behaviour.scanErrors.removeFirst()
            }
            if let error = next ?? behaviour.scanError { return try fail(error) }
            guard scanners.insert(sender).inserted else {
                return try fail(("org.bluez.Error.InProgress", "Operation already in progress"))
            }
            let isLost = shared.state.withLock { state in
                defer { state.behaviour.losesScanAnswer = false }
                return state.behaviour.losesScanAnswer
            }
            if isLost { return }
            try reply([])
            if !isConnected { try see() }
        }

        private func see() throws {
            if behaviour.isSilent { return }
            if isSeen { return try changed([("RSSI", .int16(-51))]) }
            isSeen = true
            try added(devicePath, "org.bluez.Device1", device)
        }

        private func addAttributes() throws {
            let service = devicePath + "/service000a"
            try added(
                service, "org.bluez.GattService1",
                [
                    ("UUID", .string("021a9004-0382-4aea-bff4-6b3f1c5adfb4")),
                    ("Device", .objectPath(devicePath)),
                ])
            for (index, _) in behaviour.endpoints.enumerated() {
                let characteristic = service + "/char00\(10 + 3 * index)"
                try added(
                    characteristic, "org.bluez.GattCharacteristic1",
                    [
                        ("UUID", .string("021aff5\(index)-0382-4aea-bff4-6b3f1c5adfb4")),
                        ("Service", .objectPath(service)), ("Flags", .strings(["read", "write"])),
                        ("MTU", .uint16(256)),
                    ])
                try added(
                    characteristic + "/desc00\(12 + 3 * index)", "org.bluez.GattDescriptor1",
                    [
                        ("UUID", .string("00002901-0000-1000-8000-00805f9b34fb")),
                        ("Characteristic", .objectPath(characteristic)),
                    ])
            }
        }

        private func removeAttributes() throws {
            let service = devicePath + "/service000a"
            for (index, _) in behaviour.endpoints.enumerated() {
                let characteristic = service + "/char00\(10 + 3 * index)"
                try removed(characteristic + "/desc00\(12 + 3 * index)", "org.bluez.GattDescriptor1")
                try removed(characteristic, "org.bluez.GattCharacteristic1")
            }
            try removed(service, "org.bluez.GattService1")
        }

        private func readName(
            _ path: String, _ reply: ([DBusValue]) throws -> Void, _ fail: ((name: String, text: String)) throws -> Void
        ) throws {
            let read = shared.state.withLock { state in
                state.behaviour.nameReads.isEmpty ? .answered : state.behaviour.nameReads.removeFirst()
            }
            switch read {
            case .answered: try reply([.bytes(description(of: path))])
            case .silent: break
            case .failing(let name, let text): try fail((name, text))
            case .cutOff(let name, let text):
                try fail((name, text))
                try dropLink()
            }
        }

        private func description(of path: String) -> [UInt8] {
            let number = Int(path.suffix(2)).map { ($0 - 12) / 3 } ?? 0
            return Array(behaviour.endpoints[number].utf8)
        }

        private func dropLink() throws {
            isConnected = false
            values = [:]
            try changed([("ServicesResolved", .bool(false)), ("Connected", .bool(false))])
            if behaviour.changesAddress {
                try removed(devicePath, "org.bluez.Device1")
                address = "AA:BB:CC:DD:EE:0" + (address.hasSuffix("1") ? "2" : "1")
                isSeen = false
            }
            try see()
        }

        private func added(_ path: String, _ interface: String, _ properties: [(String, DBusValue)]) throws {
            let interfaces = DBusValue.dictionary(
                [DBusEntry(.string(interface), .properties(properties))], key: "s", value: "a{sv}")
            try bus.send(
                .signal(
                    path: "/", interface: "org.freedesktop.DBus.ObjectManager", member: "InterfacesAdded",
                    [.objectPath(path), interfaces]))
        }

        private func removed(_ path: String, _ interface: String) throws {
            try bus.send(
                .signal(
                    path: "/", interface: "org.freedesktop.DBus.ObjectManager", member: "InterfacesRemoved",
                    [.objectPath(path), .strings([interface])]))
        }

        private func changed(
            _ properties: [(String, DBusValue)], at path: String? = nil,
            _ interface: String = "org.bluez.Device1"
        ) throws {
            try bus.send(
                .signal(
                    path: path ?? devicePath, interface: "org.freedesktop.DBus.Properties", member: "PropertiesChanged",
                    [.string(interface), .properties(properties), .strings([])]))
        }
    }
}

/// A bus with an ``EchoRadio`` on it, and this machine's Bluetooth as seen from there.
func withEchoRadio(
    _ behaviour: EchoRadio.Behaviour = EchoRadio.Behaviour(),
    _ body: (EchoRadio, String) async throws -> Void
) async throws {
    try await withTemporaryFolder { folder in
        let bus = try await SessionBusDaemon(in: folder)
        let radio = try await EchoRadio(on: bus.address, behaviour)
        do { try await body(radio, bus.address) } catch {
            await radio.stop()
            throw error
        }
        await radio.stop()
        try await bus.end()
    }
}
