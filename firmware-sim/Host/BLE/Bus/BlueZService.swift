// SPDX-License-Identifier: Apache-2.0
import RainDBus
import DeviceCore
import Glibc
import RainJSON

/// Serves ``SimulatedRadios`` as `org.bluez` on a bus, with a board behind each of its devices.
final class BlueZService: EventSource {
    private static let name = "org.bluez"
    private static let owners =
        "type='signal',sender='org.freedesktop.DBus',interface='org.freedesktop.DBus',member='NameOwnerChanged'"

    private var radio: SimulatedRadios
    private let servers: [GATTServer]
    private let connection: DBusConnection
    /// Calls that the radio has not answered yet.
    private var calls: [UInt64: DBusMessage] = [:]
    private var nextCall: UInt64 = 0
    /// Agents that were asked about a board's link, by the number of the request.
    private var questions: [UInt64: (board: Int, attempt: UInt64)] = [:]
    /// Boards whose handlers still process a write.
    private var busy: Set<Int> = []
    /// Boards that stopped serving since the last pass of the loop.
    private var stopped: [Int] = []
    /// Boards that restarted: their links break, and they advertise again.
    private var rebooted: [Int] = []
    private let lost: () -> Void

    /// Connects to the bus and takes the name.
    ///
    /// - Parameter lost: called when the connection to the bus is lost.
    init(
        _ address: DBusAddress, servers: [GATTServer], faults: [RadioFaults], seed: UInt64, lost: @escaping () -> Void
    ) throws {
        self.servers = servers
        self.lost = lost
        radio = SimulatedRadios(
            boards: servers.map { ($0.board.identity.bluetoothAddress, $0.board.identity.name, $0.application) },
            faults: faults, seed: seed)
        do throws(DBusError) {
            connection = try DBusConnection(address)
            _ = try connection.callAndWait(.bus("AddMatch", [.string(Self.owners)]))
            // Do not queue: there must not be two radios on one bus.
            let answer = try connection.callAndWait(.bus("RequestName", [.string(Self.name), .uint32(4)]))
            guard answer.first?.integer == 1 else {
                throw DBusError(.accessDenied, message: "another program owns \(Self.name) there")
            }
        } catch {
            throw StartError(
                "--ble: no radio at \(address): \(error); start dbus-daemon with your own configuration and set "
                    + "DBUS_SYSTEM_BUS_ADDRESS")
        }
        for (index, server) in servers.enumerated() {
            server.board.observe { [weak self] event in
                if event == .serviceStopped { self?.stopped.append(index) }
                if event == .rebooted { self?.rebooted.append(index) }
            }
        }
    }

    // MARK: The loop

    var interests: [Interest] {
        let descriptor = connection.descriptor
        return descriptor < 0 ? [] : [Interest(descriptor: descriptor, events: connection.events)]
    }

    var due: UInt64? {
        guard stopped.isEmpty, rebooted.isEmpty else { return 0 }
        // Data that the connection has already read does not make a descriptor readable.
        let read = connection.due.map { MonotonicClock.milliseconds(atMicroseconds: $0) }
        return [radio.nextDue, read].compactMap { $0 }.min()
    }

    func ready(_ descriptor: Int32, events: Int16, now: UInt64) {}

    func wake(now: UInt64) {
        drain(now: now)
        step { $0.advance(to: now) }
        for index in stopped { step { $0.setServing(index, false, now: now) } }
        stopped = []
        for index in rebooted { step { $0.dropLink(index, "restart", now: now) } }
        rebooted = []
        for index in busy {
            guard let outcome = servers[index].delayedOutcome() else { continue }
            busy.remove(index)
            step { $0.wrote(index, outcome: outcome, now: now) }
        }
    }

    private func drain(now: UInt64) {
        guard connection.descriptor >= 0 else { return }
        do throws(DBusError) {
            try connection.drain { receive($0, now: now) }
        } catch {
            for server in servers.prefix(1) {
                server.board.log(.error, "ble", "the connection to D-Bus is lost: \(error)")
            }
            connection.close()
            lost()
        }
    }

    func shutDown() {
        for server in servers { server.disconnected("end") }
        connection.close()
    }

    // MARK: Messages

    private func receive(_ message: DBusMessage, now: UInt64) {
        switch message.kind {
        case .call:
            let call = RadioCall(
                id: nextCall, sender: message.sender ?? "", path: message.path ?? "", interface: message.interface,
                member: message.member ?? "", arguments: message.arguments)
            nextCall += 1
            calls[call.id] = message
            step { $0.receive(call, now: now) }
        case .signal:
            let texts = message.arguments.map(\.text)
            guard message.sender == DBusNameOwner.bus, message.member == "NameOwnerChanged", texts.count == 3,
                texts[2] == "", let name = texts[0]
            else {
                return
            }
            step { $0.senderVanished(name, now: now) }
        case .reply, .error:
            guard let (board, attempt) = message.replySerial.flatMap({ questions.removeValue(forKey: $0) }) else {
                return
            }
            let agrees = message.kind == .reply
            step { $0.agentAnswered(board, attempt: attempt, agrees: agrees, now: now) }
        }
    }

    /// Changes the radio, and carries out the effects.
    private func step(_ body: (inout SimulatedRadios) -> Void) {
        body(&radio)
        for effect in radio.takeEffects() { carryOut(effect) }
    }

    private func carryOut(_ effect: RadioEffect) {
        switch effect {
        case .reply(let call, let values):
            if let message = calls.removeValue(forKey: call.id) { send(.reply(to: message, values)) }
        case .error(let call, let error):
            if let message = calls.removeValue(forKey: call.id) {
                send(.error(to: message, name: error.name, message: error.text))
            }
        case .signal(let path, let interface, let member, let values):
            send(.signal(path: path, interface: interface, member: member, values))
        case .linkUp(let index): servers[index].connected()
        case .linkDown(let index, let reason):
            busy.remove(index)
            servers[index].disconnected(reason)
        case .write(let index, let characteristic, let value):
            let outcome = servers[index].write(value, to: characteristic)
            guard outcome != .later else {
                busy.insert(index)
                return
            }
            step { $0.wrote(index, outcome: outcome, now: MonotonicClock.now) }
        case .read(let index, let characteristic, let offset):
            let result = Result { () throws(ATTError) in
                try servers[index].read(characteristic, offset: offset)
            }
            step { $0.didRead(index, result: result, now: MonotonicClock.now) }
        case .ask(let agent, let path, let device, let board, let attempt):
            let question = DBusCall(agent, path, "org.bluez.Agent1", "RequestAuthorization", [.objectPath(device)])
            do throws(DBusError) { questions[try connection.send(.call(question))] = (board, attempt) } catch {
                servers.first?.board.log(.error, "ble", "not sent: \(error)")
            }
        // A board with Wi-Fi would not come back to be provisioned.
        case .restart(let index): servers[index].board.step { if !$0.machine.isProvisioned { $0.restart() } }
        case .fault(let index, let what): servers[index].board.journal.write("fault", [.init("what", .string(what))])
        }
    }

    private func send(_ message: DBusOutgoing) {
        // The loss of the bus is noticed on reading.
        do throws(DBusError) { _ = try connection.send(message) } catch {
            servers.first?.board.log(.error, "ble", "not sent: \(error)")
        }
    }
}
