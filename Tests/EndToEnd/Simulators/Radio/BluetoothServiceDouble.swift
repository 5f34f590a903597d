// SPDX-License-Identifier: Apache-2.0
import TestSupport
import RainDBus
import Foundation
import Synchronization

/// Simulates bluetoothd for a peripheral, on a private bus and its own thread. It accepts the application and the advertisement as the
/// real one does, reading them before it answers. Then it reads and writes as a central does.
final class BluetoothServiceDouble: Sendable {
    struct Adapter: Sendable {
        var name: String
        var address: String
        var isPowered = true
        var alias = "workbench"
        var advertises = true

        /// A machine's: one that is on, and hci1, which is off.
        static let two = [
            Adapter(name: "hci0", address: "AA:BB:CC:00:00:00"),
            Adapter(name: "hci1", address: "AA:BB:CC:00:00:01", isPowered: false),
        ]
    }

    /// What a method of the service does instead of what it should.
    enum Answer: Sendable {
        case error(String, String)
        case silence
    }

    struct Failure: Error, Equatable {
        var name: String
        var message: String
    }

    private enum Job: Sendable {
        case emit(DBusOutgoing)
        case call(
            path: String, interface: String, member: String, [DBusValue],
            CheckedContinuation<Result<[DBusValue], Failure>, Never>)
        case leave
    }

    private struct State: Sendable {
        var adapters: [Adapter]
        var answers: [String: Answer]
        var calls: [String] = []
        /// The connection that registered, and what its objects said of themselves.
        var owner: String?
        var objects: DBusValue?
        var advertisement: DBusValue?
        var jobs: [Job] = []
        var isStopped = false
    }

    private let state: Mutex<State>
    private let over: AsyncStream<Never>

    /// Returns when it owns the name.
    init(on address: String, adapters: [Adapter], answers: [String: Answer] = [:]) async throws {
        state = Mutex(State(adapters: adapters, answers: answers))
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

    func stop() async {
        state.withLock { $0.isStopped = true }
        for await _ in over {}
    }

    // MARK: what a test sees and does

    /// Members in the order in which they were called, with what matters of their arguments: `Set Powered true`.
    var calls: [String] { state.withLock { $0.calls } }
    /// The name on the bus of whoever registered.
    var registrant: String? { state.withLock { $0.owner } }
    var objects: DBusValue? { state.withLock { $0.objects } }
    var advertisement: DBusValue? { state.withLock { $0.advertisement } }

    /// Waits until a call has been made `count` times.
    func called(_ call: String, times count: Int = 1) async -> Bool {
        let end = ContinuousClock.now + .waitLimit
        while ContinuousClock.now < end {
            if calls.count(where: { $0 == call }) >= count { return true }
            try? await Task.sleep(for: .milliseconds(10))
        }
        return false
    }

    func change(_ body: @Sendable (inout [Adapter], inout [String: Answer]) -> Void) {
        state.withLock { body(&$0.adapters, &$0.answers) }
    }

    func emit(path: String, interface: String, member: String, _ arguments: [DBusValue]) {
        state.withLock {
            $0.jobs.append(.emit(.signal(path: path, interface: interface, member: member, arguments)))
        }
    }

    /// A device's `Connected` changes.
    func connect(_ device: String, _ isConnected: Bool) {
        emit(
            path: device, interface: "org.freedesktop.DBus.Properties", member: "PropertiesChanged",
            [
                .string("org.bluez.Device1"), .properties([("Connected", .bool(isConnected))]), .strings([]),
            ])
    }

    func write(_ value: [UInt8], to path: String, _ options: [(String, DBusValue)]) async throws {
        _ = try await call(
            path, "org.bluez.GattCharacteristic1", "WriteValue", [.bytes(value), .properties(options)])
    }

    func read(_ path: String, _ options: [(String, DBusValue)], descriptor: Bool = false) async throws -> [UInt8] {
        let answer = try await call(
            path, descriptor ? "org.bluez.GattDescriptor1" : "org.bluez.GattCharacteristic1", "ReadValue",
            [.properties(options)])
        return answer.first?.byteArray ?? []
    }

    func call(_ path: String, _ interface: String, _ member: String, _ arguments: [DBusValue]) async throws
        -> [DBusValue]
    {
        let result = await withCheckedContinuation { continuation in
            state.withLock {
                $0.jobs.append(.call(path: path, interface: interface, member: member, arguments, continuation))
            }
        }
        return try result.get()
    }

    /// Gives the name up, as a service that ends does; the bus informs everyone.
    func leave() { state.withLock { $0.jobs.append(.leave) } }

    // MARK: its thread

    private func serve(_ address: String, _ ready: CheckedContinuation<Result<Void, any Error>, Never>) {
        let connection: DBusConnection
        do {
            connection = try DBusConnection(.at(address))
            _ = try connection.callAndWait(.bus("RequestName", [.string("org.bluez"), .uint32(4)]))
        } catch { return ready.resume(returning: .failure(error)) }
        ready.resume(returning: .success(()))
        while !state.withLock({ $0.isStopped }) {
            do {
                while let message = try connection.process() { try answer(message, connection) }
                for job in state.withLock({ state in
                    defer { state.jobs = [] }
                    return state.jobs
                }) { try perform(job, connection) }
            } catch { return }
            var waiting = pollfd(fd: connection.descriptor, events: connection.events, revents: 0)
            _ = poll(&waiting, 1, 5)
        }
    }

    private func perform(_ job: Job, _ connection: DBusConnection) throws {
        switch job {
        case .emit(let message): try connection.send(message)
        case .leave: _ = try connection.callAndWait(.bus("ReleaseName", [.string("org.bluez")]))
        case .call(let path, let interface, let member, let arguments, let continuation):
            guard let owner = state.withLock({ $0.owner }) else {
                return continuation.resume(returning: .failure(Failure(name: "nobody", message: "nobody registered")))
            }
            do throws(DBusError) {
                let answer = try connection.callAndWait(
                    DBusCall(owner, path, interface, member, arguments), within: .waitLimit)
                continuation.resume(returning: .success(answer))
            } catch {
                continuation.resume(
                    returning: .failure(Failure(name: error.name ?? "\(error.code)", message: error.message)))
            }
        }
    }

    private func answer(_ message: DBusMessage, _ connection: DBusConnection) throws {
        guard message.kind == .call, let member = message.member else { return }
        state.withLock { $0.calls.append(Self.summary(message)) }
        switch state.withLock({ $0.answers[member] }) {
        case .error(let name, let text): return _ = try connection.send(.error(to: message, name: name, message: text))
        case .silence: return
        case nil: break
        }
        let sender = message.sender ?? ""
        switch member {
        case "GetManagedObjects":
            try connection.send(.reply(to: message, [tree()]))
        case "Set":
            let values = message.arguments.compactMap(\.text)
            state.withLock { state in
                for index in state.adapters.indices where message.path == "/org/bluez/" + state.adapters[index].name {
                    if values.contains("Powered") { state.adapters[index].isPowered = true }
                    if values.contains("Alias") { state.adapters[index].alias = values.last ?? "" }
                }
            }
            try connection.send(.reply(to: message, []))
        case "RegisterApplication":
            let path = message.arguments.first?.text ?? ""
            let objects = try connection.callAndWait(
                DBusCall(sender, path, "org.freedesktop.DBus.ObjectManager", "GetManagedObjects"))
            state.withLock {
                $0.owner = sender
                $0.objects = objects.first
            }
            try connection.send(.reply(to: message, []))
        case "RegisterAdvertisement":
            let path = message.arguments.first?.text ?? ""
            let properties = try connection.callAndWait(
                DBusCall(
                    sender, path, "org.freedesktop.DBus.Properties", "GetAll", [.string("org.bluez.LEAdvertisement1")]))
            state.withLock { $0.advertisement = properties.first }
            try connection.send(.reply(to: message, []))
        default: try connection.send(.reply(to: message, []))
        }
    }

    private func tree() -> DBusValue {
        let adapters = state.withLock { $0.adapters }
        return .dictionary(
            adapters.map { adapter in
                var interfaces = [
                    DBusEntry(
                        .string("org.bluez.Adapter1"),
                        .properties([
                            ("Address", .string(adapter.address)), ("Powered", .bool(adapter.isPowered)),
                            ("Alias", .string(adapter.alias)),
                        ]))
                ]
                if adapter.advertises {
                    interfaces += ["org.bluez.GattManager1", "org.bluez.LEAdvertisingManager1"].map {
                        DBusEntry(.string($0), .properties([]))
                    }
                }
                return DBusEntry(
                    .objectPath("/org/bluez/" + adapter.name), .dictionary(interfaces, key: "s", value: "a{sv}"))
            }, key: "o", value: "a{sa{sv}}")
    }

    private static func summary(_ message: DBusMessage) -> String {
        guard message.member == "Set" else { return message.member ?? "" }
        let value = message.arguments.last.map { $0.text ?? $0.boolean.map { "\($0)" } ?? "" } ?? ""
        return "Set \(message.arguments.dropFirst().first?.text ?? "") \(value)"
    }
}
