// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import RainDBus

/// Decides how a board starts and stops advertising on a real adapter. It does no I/O itself.
///
/// The order is power, name, characteristics, advertisement. When the Bluetooth service or the adapter disappears, it waits for it and
/// starts again. There is one link at a time, as on the board.
struct AdapterFront {
    enum Event {
        case replied(AdapterCall, [DBusValue])
        case failed(AdapterCall, DBusError)
        /// The name org.bluez got an owner, or lost it.
        case service(isThere: Bool)
        /// An object appeared or disappeared: an adapter or a device.
        case appeared(path: String)
        case vanished(path: String)
        /// A device of this machine, which may be any: a mouse as well as a phone.
        case connected(device: String, Bool)
        /// A request of a device arrived, so the device uses the board.
        case heard(device: String)
        /// The board has started or stopped serving.
        case serving(Bool)
        /// The board restarted.
        case rebooted
    }

    enum Action: Equatable {
        case call(AdapterCall)
        case onAir
        case linkOpened
        case linkLost
        /// It cannot continue until something changes on this machine.
        case refused(AdapterRefusal)
    }

    enum Phase: Equatable {
        /// No request was sent yet, or the Bluetooth service does not run.
        case idle
        case seeking, powering, naming, registering, advertising
        case onAir
        /// The board has stopped, and does not advertise.
        case offAir
    }

    let choice: AdapterChoice
    private let name: String
    private(set) var phase = Phase.idle
    /// The object path of the adapter, once it was found.
    private(set) var adapter: AdapterTree.Adapter?
    /// The device at the other end of the link, which has sent a request to the board. The board must not disconnect any other device.
    private(set) var peer: String?
    private var isServing = true
    /// The adapter was given the board's name.
    private var hasRenamed = false

    init(choice: AdapterChoice, name: String) {
        self.choice = choice
        self.name = name
    }

    mutating func start() -> [Action] {
        guard isServing else { return [] }
        phase = .seeking
        return [.call(.listObjects)]
    }

    mutating func handle(_ event: Event) -> [Action] {
        switch event {
        case .replied(let call, let arguments): return replied(call, arguments)
        case .failed(let call, let error): return failed(call, error)
        case .service(let isThere):
            let lost = lose()
            phase = .idle
            return lost + (isThere ? start() : [])
        case .appeared(let path):
            // The list of objects shows whether it is the wanted adapter.
            guard phase == .idle, path.hasPrefix("/org/bluez/hci"), !path.contains("/dev_") else { return [] }
            return start()
        case .vanished(let path):
            if path == adapter?.path {
                phase = .idle
                return lose()
            }
            return path == peer ? lose() : []
        case .connected(let device, let isConnected): return device == peer && !isConnected ? lose() : []
        case .heard(let device): return isOurs(device) ? open(device) : []
        case .serving(let serves): return serving(serves)
        // It advertises again at once; only the link is lost.
        case .rebooted: return (peer.map { [.call(.disconnect(device: $0))] } ?? []) + lose()
        }
    }

    /// The match rules for the signals of the service that the board needs now. Once it has its adapter, signals about other adapters are
    /// left out, because a machine may play many boards.
    var rules: Set<String> {
        let objects = "type='signal',sender='org.bluez',interface='org.freedesktop.DBus.ObjectManager'"
        guard let adapter, phase != .idle, phase != .seeking else { return [objects] }
        let properties = "type='signal',sender='org.bluez',interface='org.freedesktop.DBus.Properties'"
        return [
            objects + ",arg0path='\(adapter.path)'", objects + ",arg0path='\(adapter.path)/'",
            properties + ",path_namespace='\(adapter.path)',arg0='org.bluez.Device1'",
        ]
    }

    /// Returns the calls that restore the adapter as it was found. Their answers are not awaited.
    func callsAtShutdown() -> [AdapterCall] {
        guard let adapter else { return [] }
        var calls: [AdapterCall] = phase == .onAir ? [.unregisterAdvertisement, .unregisterApplication] : []
        if let peer { calls.append(.disconnect(device: peer)) }
        return calls + (hasRenamed ? [.rename(adapter.alias == name ? "" : adapter.alias)] : [])
    }

    // MARK: Answers

    private mutating func replied(_ call: AdapterCall, _ arguments: [DBusValue]) -> [Action] {
        switch (phase, call) {
        case (.seeking, .listObjects): return choose(AdapterTree(arguments))
        case (.powering, .powerOn): return goOn(to: .naming, .rename(name))
        case (.naming, .rename): return goOn(to: .registering, .registerApplication)
        case (.registering, .registerApplication): return goOn(to: .advertising, .registerAdvertisement)
        case (.advertising, .registerAdvertisement):
            phase = .onAir
            return [.onAir]
        default: return []
        }
    }

    private mutating func failed(_ call: AdapterCall, _ error: DBusError) -> [Action] {
        switch (phase, call) {
        // The adapter's name is optional, because the advertisement has the board's own name.
        case (.naming, .rename): return goOn(to: .registering, .registerApplication)
        case (.seeking, .listObjects), (.powering, .powerOn), (.registering, .registerApplication),
            (.advertising, .registerAdvertisement):
            phase = .idle
            return [.refused(AdapterRefusal(call, error, choice: choice))]
        default: return []
        }
    }

    private mutating func choose(_ tree: AdapterTree) -> [Action] {
        guard var found = tree.find(choice) else {
            phase = .idle
            return [.refused(AdapterRefusal(noAdapter: choice, among: tree.adapters))]
        }
        // When the search is repeated, the adapter may already have our name.
        if let adapter, adapter.path == found.path, found.alias == name { found.alias = adapter.alias }
        adapter = found
        guard found.isPowered else { return goOn(to: .powering, .powerOn) }
        guard found.playsBoards else {
            phase = .idle
            return [
                .refused(
                    AdapterRefusal(
                        .cannotAdvertise,
                        "the adapter \(choice) cannot act as a board: it does not advertise, or the Bluetooth service is too old"
                    ))
            ]
        }
        return goOn(to: .naming, .rename(name))
    }

    private mutating func goOn(to next: Phase, _ call: AdapterCall) -> [Action] {
        phase = next
        if next == .naming { hasRenamed = true }
        return [.call(call)]
    }

    // MARK: The link

    private func isOurs(_ device: String) -> Bool {
        guard let adapter else { return false }
        return device.hasPrefix(adapter.path + "/dev_") && !device.dropFirst(adapter.path.utf8.count + 1).contains("/")
    }

    private mutating func open(_ device: String) -> [Action] {
        guard device != peer else { return [] }
        // A board has one link, and the last central that sent a request has it: the end of the other link may not have been reported.
        let lost = lose()
        peer = device
        return lost + [.linkOpened]
    }

    private mutating func lose() -> [Action] {
        guard peer != nil else { return [] }
        peer = nil
        return [.linkLost]
    }

    // MARK: The board

    private mutating func serving(_ serves: Bool) -> [Action] {
        guard serves != isServing else { return [] }
        isServing = serves
        if serves {
            guard phase == .offAir else { return [] }
            return goOn(to: .registering, .registerApplication)
        }
        guard phase == .onAir else { return [] }
        phase = .offAir
        var actions: [Action] = [.call(.unregisterAdvertisement), .call(.unregisterApplication)]
        if let peer { actions.append(.call(.disconnect(device: peer))) }
        return actions + lose()
    }
}

/// The Bluetooth adapter of this machine that acts as the board.
enum AdapterChoice: Equatable, Sendable, CustomStringConvertible {
    /// `hci0`: the kernel's name, which may belong to another adapter after the machine's next start.
    case name(String)
    /// Its address, in upper case.
    case address(String)

    var description: String {
        switch self {
        case .name(let text), .address(let text): text
        }
    }
}

extension AdapterChoice: ExpressibleByArgument {
    init?(argument: String) {
        if argument.hasPrefix("hci"), argument.utf8.count <= 8, let number = Int(argument.dropFirst(3)), number >= 0 {
            self = .name("hci\(number)")
            return
        }
        let parts = argument.split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count == 6,
            parts.allSatisfy({ $0.utf8.count == 2 && $0.allSatisfy { $0.isASCII && $0.isHexDigit } })
        else { return nil }
        self = .address(argument.uppercased())
    }
}

/// The adapters in a reply to `GetManagedObjects` of the Bluetooth service.
struct AdapterTree {
    struct Adapter: Equatable {
        var path: String
        var address: String
        var isPowered: Bool
        /// The name it reports.
        var alias: String
        /// It can serve characteristics, and advertise.
        var playsBoards: Bool
    }

    fileprivate var adapters: [Adapter] = []

    fileprivate init(_ arguments: [DBusValue]) {
        for object in arguments.first?.entries ?? [] {
            guard let path = object.key.text, let adapter = object.value["org.bluez.Adapter1"],
                let address = adapter["Address"]?.text
            else { continue }
            adapters.append(
                Adapter(
                    path: path, address: address, isPowered: adapter["Powered"]?.boolean ?? false,
                    alias: adapter["Alias"]?.text ?? "",
                    playsBoards: object.value["org.bluez.GattManager1"] != nil
                        && object.value["org.bluez.LEAdvertisingManager1"] != nil))
        }
        adapters.sort { $0.path < $1.path }
    }

    fileprivate func find(_ choice: AdapterChoice) -> Adapter? {
        switch choice {
        case .name(let name): adapters.first { $0.path.hasSuffix("/" + name) }
        case .address(let address): adapters.first { $0.address.uppercased() == address }
        }
    }
}

/// A call to the Bluetooth service.
enum AdapterCall: Equatable, Hashable {
    case listObjects
    case powerOn
    /// Sets the name that the adapter reports.
    case rename(String)
    case registerApplication
    case registerAdvertisement
    case unregisterApplication
    case unregisterAdvertisement
    case disconnect(device: String)

    static let service = "org.bluez"

    func message(adapter: String) -> DBusCall {
        switch self {
        case .listObjects:
            DBusCall(Self.service, "/", "org.freedesktop.DBus.ObjectManager", "GetManagedObjects")
        case .powerOn: set(adapter, "Powered", .bool(true))
        case .rename(let name): set(adapter, "Alias", .string(name))
        case .registerApplication:
            DBusCall(
                Self.service, adapter, "org.bluez.GattManager1", "RegisterApplication",
                [.objectPath(BoardObjects.application), .properties([])])
        case .registerAdvertisement:
            DBusCall(
                Self.service, adapter, "org.bluez.LEAdvertisingManager1", "RegisterAdvertisement",
                [.objectPath(BoardObjects.advertisement), .properties([])])
        case .unregisterApplication:
            DBusCall(
                Self.service, adapter, "org.bluez.GattManager1", "UnregisterApplication",
                [.objectPath(BoardObjects.application)])
        case .unregisterAdvertisement:
            DBusCall(
                Self.service, adapter, "org.bluez.LEAdvertisingManager1", "UnregisterAdvertisement",
                [.objectPath(BoardObjects.advertisement)])
        case .disconnect(let device): DBusCall(Self.service, device, "org.bluez.Device1", "Disconnect")
        }
    }

    private func set(_ adapter: String, _ name: String, _ value: DBusValue) -> DBusCall {
        DBusCall(
            Self.service, adapter, "org.freedesktop.DBus.Properties", "Set",
            [.string("org.bluez.Adapter1"), .string(name), .variant(value)])
    }
}

/// Maps a signal of the Bluetooth service to the board's events.
enum AdapterSignal {
    static func events(of signal: DBusMessage) -> [AdapterFront.Event] {
        switch signal.member {
        case "InterfacesAdded":
            guard let path = signal.arguments.first?.text, let interfaces = signal.arguments.last else { return [] }
            return interfaces["org.bluez.LEAdvertisingManager1"] == nil ? [] : [.appeared(path: path)]
        case "InterfacesRemoved":
            guard let path = signal.arguments.first?.text, let interfaces = signal.arguments.last?.texts,
                !Set(interfaces).isDisjoint(with: ["org.bluez.Adapter1", "org.bluez.Device1"])
            else { return [] }
            return [.vanished(path: path)]
        case "PropertiesChanged":
            guard let path = signal.path, signal.arguments.first?.text == "org.bluez.Device1",
                let isConnected = signal.arguments.dropFirst().first?["Connected"]?.boolean
            else { return [] }
            return [.connected(device: path, isConnected)]
        default: return []
        }
    }
}

/// Why an adapter cannot act as the board: one sentence with the remedy.
struct AdapterRefusal: Error, Equatable, CustomStringConvertible {
    enum Reason: Equatable {
        case noBus, noService, noAdapter, noRights, blocked, cannotAdvertise, nameTooLong, refused, silent
    }

    var reason: Reason
    var description: String

    init(_ reason: Reason, _ description: String) {
        self.reason = reason
        self.description = description
    }

    /// Makes the error for a failed connection to the bus.
    init(connecting error: DBusError) {
        switch error.code {
        case .accessDenied:
            self.init(.noRights, "the system's D-Bus refuses this user: \(error.message)")
        default:
            self.init(
                .noBus,
                "there is no system D-Bus, which Bluetooth needs (\(error.message)): start it, or name it with DBUS_SYSTEM_BUS_ADDRESS"
            )
        }
    }

    /// Makes the error for an error answer of the Bluetooth service, or of the bus.
    fileprivate init(_ call: AdapterCall, _ error: DBusError, choice: AdapterChoice) {
        switch error.name {
        case "org.freedesktop.DBus.Error.ServiceUnknown", "org.freedesktop.DBus.Error.NameHasNoOwner":
            self = .noService
        case let name?
        where name.hasPrefix("org.freedesktop.DBus.Error.Spawn") || name.hasPrefix("org.freedesktop.systemd1."):
            self = .noService
        case "org.freedesktop.DBus.Error.AccessDenied", "org.bluez.Error.NotPermitted", "org.bluez.Error.NotAuthorized":
            self.init(
                .noRights,
                "this user may not use Bluetooth (\(error.message)): run as root, or join the group \"bluetooth\"")
        case "org.bluez.Error.Blocked":
            self.init(.blocked, "the radio of \(choice) is blocked: rfkill unblock bluetooth")
        case "org.freedesktop.DBus.Error.UnknownObject":
            self.init(.noAdapter, "the adapter \(choice) is gone: plug it in again")
        default:
            if error.code == .timeout {
                self.init(.silent, "the Bluetooth service does not answer: systemctl restart bluetooth")
            } else {
                self.init(.refused, "the Bluetooth service refuses \(call.summary) on \(choice): \(error)")
            }
        }
    }

    private static let noService = AdapterRefusal(
        .noService, "the Bluetooth service does not run: systemctl start bluetooth (package bluez)")

    fileprivate init(noAdapter choice: AdapterChoice, among adapters: [AdapterTree.Adapter]) {
        let there = adapters.map { "\($0.path.split(separator: "/").last ?? "") \($0.address)" }
        self.init(
            .noAdapter,
            there.isEmpty
                ? "this machine has no Bluetooth adapter"
                : "there is no adapter \(choice): this machine has \(there.joined(separator: ", "))")
    }
}

extension AdapterCall {
    /// The call in the text of an error message.
    fileprivate var summary: String {
        switch self {
        case .listObjects: "to list its objects"
        case .powerOn: "to switch the radio on"
        case .rename: "the name"
        case .registerApplication: "the board's characteristics"
        case .registerAdvertisement: "the board's advertisement"
        case .unregisterApplication, .unregisterAdvertisement: "to end serving"
        case .disconnect: "to end the link"
        }
    }
}
