// SPDX-License-Identifier: Apache-2.0
import DeviceCore
import Glibc
import RainDBus
import RainIO
import RainJSON

/// The board on a real Bluetooth adapter, through this machine's Bluetooth service (BlueZ).
///
/// It registers the board's characteristics (`GattManager1`) and its advertisement (`LEAdvertisingManager1`), and answers the reads and
/// writes of centrals. Meanwhile the adapter has the board's name, because a connected central uses the adapter's name as the board's.
private final class AdapterPeripheral: EventSource {
    /// The chosen adapter, as it was found.
    var adapter: AdapterTree.Adapter? { front.adapter }

    private let connection: DBusConnection
    private let server: GATTServer
    private let objects: BoardObjects
    private var front: AdapterFront
    /// The owner of the service's name. Only its signals and calls count, because every user of the machine can send some.
    private var owner = DBusNameOwner(of: AdapterCall.service)
    /// The match rules that the bus has.
    private var rules: Set<String> = []
    private var calls: [UInt64: AdapterCall] = [:]
    /// The write whose handler occupies the board's one task.
    private var owed: DBusMessage?
    /// The MTU of the link; nil before the first request on it.
    private var mtu: Int?
    private var refusal: AdapterRefusal?
    private var isClosed = false
    /// Whether the board restarted since the last pass of the loop: the link breaks, and the board keeps advertising.
    private var hasRebooted = false

    /// The longest name that fits a scan response.
    static let nameLimit = 29
    /// The maximum time until the service makes the board advertise, in milliseconds.
    private static let startLimit: UInt64 = 10_000

    /// Returns when the board advertises.
    init(
        _ choice: AdapterChoice, server: GATTServer, isEncrypted: Bool = false, bus: DBusAddress = .system
    ) throws(AdapterRefusal) {
        let name = server.board.identity.name
        guard name.utf8.count <= Self.nameLimit else {
            throw AdapterRefusal(
                .nameTooLong, "a name over Bluetooth has at most \(Self.nameLimit) bytes: give another --name")
        }
        self.server = server
        objects = BoardObjects(server: server.application, name: name, isEncrypted: isEncrypted)
        front = AdapterFront(choice: choice, name: name)
        do { connection = try DBusConnection(bus) } catch { throw AdapterRefusal(connecting: error) }
        do throws(DBusError) { try watch() } catch { throw AdapterRefusal(connecting: error) }
        server.board.observe { [weak self] event in if event == .rebooted { self?.hasRebooted = true } }
        perform(front.start())
        do throws(AdapterRefusal) { try waitUntilOnAir() } catch {
            // The adapter may already have the board's name.
            shutDown()
            throw error
        }
    }

    private func watch() throws(DBusError) {
        rules = front.rules
        for rule in rules.union([owner.rule]) {
            _ = try connection.callAndWait(.bus("AddMatch", [.string(rule)]), within: .seconds(5))
        }
        // If the service does not run yet, our first call may start it.
        if let answer = try? connection.callAndWait(owner.question, within: .seconds(5)) { owner.learn(answer) }
    }

    private func waitUntilOnAir() throws(AdapterRefusal) {
        let end = MonotonicClock.now + Self.startLimit
        while front.phase != .onAir {
            if let refusal { throw refusal }
            let now = MonotonicClock.now
            guard now < end, !isClosed else {
                throw AdapterRefusal(.silent, "the Bluetooth service does not answer: systemctl restart bluetooth")
            }
            let next = min(end, due ?? end)
            _ = pollDescriptor(
                connection.descriptor, for: PollEvents(rawValue: connection.events),
                until: .after(milliseconds: Int64(next) - Int64(now)))
            drain()
        }
    }

    // MARK: The loop

    var interests: [Interest] {
        isClosed ? [] : [Interest(descriptor: connection.descriptor, events: connection.events)]
    }

    var due: UInt64? {
        if isClosed { return nil }
        if hasRebooted { return 0 }
        guard let due = connection.due else { return nil }
        return MonotonicClock.milliseconds(atMicroseconds: due)
    }

    func ready(_ descriptor: Int32, events: Int16, now: UInt64) {}

    func wake(now: UInt64) {
        guard !isClosed else { return }
        drain()
        if hasRebooted {
            hasRebooted = false
            perform(front.handle(.rebooted))
        }
        if let owed, let outcome = server.delayedOutcome() {
            self.owed = nil
            settle(owed, outcome)
        }
        perform(front.handle(.serving(server.isServing)))
    }

    func shutDown() {
        guard !isClosed, let adapter else { return }
        for call in front.callsAtShutdown() {
            var message = call.message(adapter: adapter.path)
            message.expectsReply = false
            _ = try? connection.send(.call(message))
        }
        _ = try? connection.flush()
        close("the board ends")
    }

    private func close(_ reason: String) {
        isClosed = true
        connection.close()
        server.disconnected(reason)
    }

    private func drain() {
        do throws(DBusError) {
            try connection.drain(admitting: { owner.admits($0) }) { take($0) }
            changeRules()
        } catch {
            server.board.log(
                .error, "ble", "the connection to D-Bus is lost, so the board no longer advertises: \(error)")
            refusal = AdapterRefusal(connecting: error)
            close("D-Bus is gone")
        }
    }

    /// Replaces the match rules. The new ones come first, so that no signal is missed.
    private func changeRules() {
        let wanted = front.rules
        guard wanted != rules else { return }
        let changes =
            wanted.subtracting(rules).map { ("AddMatch", $0) } + rules.subtracting(wanted).map { ("RemoveMatch", $0) }
        rules = wanted
        for (member, rule) in changes {
            var call = DBusCall.bus(member, [.string(rule)])
            call.expectsReply = false
            _ = try? connection.send(.call(call))
        }
    }

    // MARK: Messages

    private func take(_ message: DBusMessage) {
        switch message.kind {
        // The bus itself, whose signals are accepted as well, makes no calls.
        case .call: answer(message)
        case .reply:
            guard let call = message.replySerial.flatMap({ calls.removeValue(forKey: $0) }) else { return }
            perform(front.handle(.replied(call, message.arguments)))
        case .error:
            guard let call = message.replySerial.flatMap({ calls.removeValue(forKey: $0) }) else { return }
            let text = message.arguments.first?.text ?? ""
            perform(front.handle(.failed(call, DBusError(.remote, name: message.errorName, message: text))))
        case .signal:
            if let isThere = owner.follow(message) { return perform(front.handle(.service(isThere: isThere))) }
            guard owner.sent(message) else { return }
            for event in AdapterSignal.events(of: message) { perform(front.handle(event)) }
        }
    }

    private func perform(_ actions: [AdapterFront.Action]) {
        for action in actions {
            switch action {
            case .call(let call):
                guard !isClosed else { return }
                let path = front.adapter?.path ?? "/"
                do throws(DBusError) {
                    calls[try connection.send(.call(call.message(adapter: path)))] = call
                } catch { perform(front.handle(.failed(call, error))) }
            case .onAir:
                server.board.log(.info, "ble", "advertising as \(objects.name) on \(front.choice)")
                server.board.journal.state("advertising")
                guard objects.isEncrypted else { continue }
                for call in BoardAgent.registration {
                    var call = call
                    call.expectsReply = false
                    _ = try? connection.send(.call(call))
                }
            case .linkOpened:
                mtu = nil
                server.connected()
            case .linkLost:
                owed.map { settle($0, .refused(.unlikely, closesLink: false)) }
                owed = nil
                server.disconnected("the link is gone")
            case .refused(let refusal):
                server.board.log(.error, "ble", "\(refusal)")
                self.refusal = refusal
            }
        }
    }

    // MARK: Calls to the board

    private func answer(_ call: DBusMessage) {
        do throws(AdapterAnswer) {
            let path = call.path ?? "/"
            guard !BoardAgent.isAsked(call) else {
                guard BoardAgent.agrees(to: call, at: front.adapter?.path) else {
                    throw AdapterAnswer(
                        name: "org.bluez.Error.Rejected", message: "This object does not belong to the board.")
                }
                return reply(call, [])
            }
            switch (call.interface, call.member) {
            case ("org.freedesktop.DBus.ObjectManager", "GetManagedObjects"):
                reply(call, [objects.managedObjects(below: path)])
            case ("org.freedesktop.DBus.Properties", "GetAll"):
                reply(call, [.properties(try properties(call, path))])
            case ("org.freedesktop.DBus.Properties", "Get"):
                let name = call.arguments.last?.text
                guard let value = try properties(call, path).first(where: { $0.0 == name })?.1 else {
                    throw .invalidArguments
                }
                reply(call, [.variant(value)])
            case ("org.bluez.LEAdvertisement1", "Release"):
                // Called when the service drops the advertisement, which it does when it ends.
                reply(call, [])
            case (_, "ReadValue"): reply(call, [.bytes(try read(call, path))])
            case (_, "WriteValue"): try write(call, path)
            default: throw .unknownMethod
            }
        } catch { send(.error(to: call, name: error.name, message: error.message)) }
    }

    private func properties(_ call: DBusMessage, _ path: String) throws(AdapterAnswer) -> [(String, DBusValue)] {
        guard let object = objects.object(at: path) else { throw .unknownObject }
        return call.arguments.first?.text == objects.interface(of: object) ? objects.properties(of: object) : []
    }

    private func read(_ call: DBusMessage, _ path: String) throws(AdapterAnswer) -> [UInt8] {
        let options = ValueOptions(call.arguments.first)
        switch objects.object(at: path) {
        case .description(let index):
            return Array(objects.server.characteristics[index].userDescription.dropFirst(options.offset))
        case .characteristic(let index):
            hear(options)
            do { return try server.read(index, offset: options.offset) } catch { throw AdapterAnswer(error) }
        default: throw .unknownObject
        }
    }

    private func write(_ call: DBusMessage, _ path: String) throws(AdapterAnswer) {
        guard case .characteristic(let index)? = objects.object(at: path) else { throw .unknownObject }
        guard let value = call.arguments.first?.byteArray else { throw .invalidArguments }
        let options = ValueOptions(call.arguments.dropFirst().first)
        hear(options)
        guard !options.asksForLeave else { return reply(call, []) }
        settle(call, server.write(value, to: index, offset: options.offset))
    }

    private func hear(_ options: ValueOptions) {
        if let device = options.device { perform(front.handle(.heard(device: device))) }
        guard let mtu = options.mtu, mtu != self.mtu else { return }
        self.mtu = mtu
        server.board.journal.state("mtu", [.init("mtu", .integer(Int64(mtu)))])
    }

    private func settle(_ call: DBusMessage, _ outcome: GATTWriteOutcome) {
        switch outcome {
        case .acknowledged: reply(call, [])
        case .later: owed = call
        case .refused(let error, let closesLink):
            let answer = AdapterAnswer(error)
            send(.error(to: call, name: answer.name, message: answer.message))
            if closesLink, let peer = front.peer { perform([.call(.disconnect(device: peer))]) }
        }
    }

    private func reply(_ call: DBusMessage, _ arguments: [DBusValue]) { send(.reply(to: call, arguments)) }

    private func send(_ message: DBusOutgoing) {
        guard !isClosed else { return }
        do throws(DBusError) { try connection.send(message) } catch {
            server.board.log(.warning, "ble", "an answer to the Bluetooth service was lost: \(error)")
        }
    }
}

/// The board's error answers to calls of the Bluetooth service, except for the answers of its endpoints.
struct AdapterAnswer: Error {
    /// The names that BlueZ turns into errors of the Attribute Protocol (`gatt-database.c`). For any other name it sends 0x0E, "unlikely".
    var name: String
    var message: String

    fileprivate static let unknownObject = AdapterAnswer(
        name: "org.freedesktop.DBus.Error.UnknownObject", message: "No such object")
    static let unknownMethod = AdapterAnswer(
        name: "org.freedesktop.DBus.Error.UnknownMethod", message: "No such method")
    static let invalidArguments = AdapterAnswer(
        name: "org.freedesktop.DBus.Error.InvalidArgs", message: "The arguments are of another type")

    fileprivate init(name: String, message: String) {
        self.name = name
        self.message = message
    }

    /// An application's own codes, 0x80 to 0x9F, are sent unchanged, written as a number in the text. Codes of the protocol are sent if
    /// they have a name. NimBLE's 0x04 cannot be sent: a client of BlueZ gets 0x80 instead.
    init(_ error: ATTError) {
        let name: String
        var message = "ATT error"
        switch error {
        case .requestNotSupported: name = "NotSupported"
        case .invalidOffset: name = "InvalidOffset"
        case .invalidValueLength: name = "InvalidValueLength"
        case .insufficientAuthorization: name = "NotAuthorized"
        case .readNotPermitted, .writeNotPermitted: name = "NotPermitted"
        case .unlikely: name = "Unlikely"
        default:
            name = "Failed"
            message = String((0x80...0x9F).contains(error.code) ? error.code : 0x80)
        }
        self.init(name: "org.bluez.Error." + name, message: message)
    }
}

/// The options that BlueZ passes to `ReadValue` and `WriteValue`.
private struct ValueOptions: Equatable {
    /// The object path of the device at the other end of the link.
    var device: String?
    var offset = 0
    /// The MTU of the link.
    var mtu: Int?
    /// The first part of a long write only asks for permission; the whole value comes with a separate call.
    var asksForLeave = false

    init(_ options: DBusValue?) {
        device = options?["device"]?.text
        offset = options?["offset"]?.integer ?? 0
        mtu = options?["mtu"]?.integer
        asksForLeave = options?["prepare-authorize"]?.boolean ?? false
    }
}

extension FirmwareSim {
    /// Puts the board on a real adapter, and returns its description.
    func serveAdapter(
        _ choice: AdapterChoice, _ board: Board, isEncrypted: Bool, on loop: EventLoop
    ) throws -> JSONValue {
        do throws(AdapterRefusal) {
            let peripheral = try AdapterPeripheral(
                choice, server: GATTServer(board: board), isEncrypted: isEncrypted)
            loop.add(peripheral)
            let adapter = peripheral.adapter
            return .object([
                .init("adapter", .string(adapter?.path ?? "")),
                .init(
                    "boards",
                    .array([
                        .object([
                            .init("address", .string(adapter?.address ?? "")),
                            .init("name", .string(board.identity.name)),
                            .init("node_id", .string(board.identity.nodeID)),
                            .init("pop", .string(board.identity.proofOfPossession)),
                        ])
                    ])),
            ])
        } catch { throw StartError(error.description) }
    }
}
