// SPDX-License-Identifier: Apache-2.0
import RainDBus

/// Decides how a board starts and stops advertising on a real adapter. It does no I/O itself.
///
/// Power, name, characteristics, advertisement, in this order. When the Bluetooth service or the adapter goes away, the front waits
/// for it and begins again. There is one link at a time, as on the board.
struct AdapterFront {
    enum Event {
        case replied(AdapterCall, [DBusValue])
        case failed(AdapterCall, DBusError)
        /// The name org.bluez got an owner, or lost it.
        case service(isThere: Bool)
        /// An object came or went, an adapter or a device.
        case appeared(path: String)
        case vanished(path: String)
        /// A device of the machine's, which may be any: a mouse as well as a phone.
        case connected(device: String, Bool)
        /// A request of a device arrived: it is the board that it talks to.
        case heard(device: String)
        /// The board serves, or has stopped to.
        case serving(Bool)
        /// The board restarted.
        case rebooted
    }

    enum Action: Equatable {
        case call(AdapterCall)
        case onAir
        case linkOpened
        case linkLost
        /// It cannot go on until something changes on this machine.
        case refused(AdapterRefusal)
    }

    enum Phase: Equatable {
        /// Nothing was asked yet, or the Bluetooth service is not there.
        case idle
        case seeking, powering, naming, registering, advertising
        case onAir
        /// The board has stopped, and does not advertise.
        case offAir
    }

    let choice: AdapterChoice
    let name: String
    private(set) var phase = Phase.idle
    /// The object path of the adapter, once it was found.
    private(set) var adapter: AdapterTree.Adapter?
    /// The device at the other end of the link: one that sent a request to the board. The board may disconnect no other.
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
            // The one that was looked for, or another one, says the list of objects.
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

    /// The calls that restore the adapter as it was found; their answers are not waited for.
    func callsAtShutdown() -> [AdapterCall] {
        guard let adapter else { return [] }
        var calls: [AdapterCall] = phase == .onAir ? [.unregisterAdvertisement, .unregisterApplication] : []
        if let peer { calls.append(.disconnect(device: peer)) }
        return calls + (hasRenamed ? [.rename(adapter.alias == name ? "" : adapter.alias)] : [])
    }

    // MARK: answers

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
        // The adapter's name is optional, because the advertisement has the board's own.
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
        // When the search is repeated, the adapter may have our name already.
        if let adapter, adapter.path == found.path, found.alias == name { found.alias = adapter.alias }
        adapter = found
        guard found.isPowered else { return goOn(to: .powering, .powerOn) }
        guard found.playsBoards else {
            phase = .idle
            return [
                .refused(
                    AdapterRefusal(
                        .cannotAdvertise,
                        "the adapter \(choice) cannot play a board: it does not advertise, or the Bluetooth service is too old"
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

    // MARK: the link

    private func isOurs(_ device: String) -> Bool {
        guard let adapter else { return false }
        return device.hasPrefix(adapter.path + "/dev_") && !device.dropFirst(adapter.path.utf8.count + 1).contains("/")
    }

    private mutating func open(_ device: String) -> [Action] {
        guard device != peer else { return [] }
        // A board has one link, and the last central that asked has it: the end of the other link may not have been reported.
        let lost = lose()
        peer = device
        return lost + [.linkOpened]
    }

    private mutating func lose() -> [Action] {
        guard peer != nil else { return [] }
        peer = nil
        return [.linkLost]
    }

    // MARK: the board

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
