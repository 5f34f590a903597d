// SPDX-License-Identifier: Apache-2.0

/// A board as the radio sees it, and what BlueZ remembers of it.
struct RadioDevice: Sendable {
    enum Link: Sendable, Equatable {
        case down
        /// `call` waits for the outcome, unless the connection was asked for by Pair.
        case connecting(RadioCall?)
        case up
        /// A client disconnects; the callers wait until the link is down.
        case closing([RadioCall])
    }

    // The board.
    private(set) var address: String
    private(set) var path: String
    let name: String
    let application: GATTApplication
    /// The board serves, and answers scans and connections.
    var isServing: Bool
    /// How loud it is; what is measured jitters around that.
    let level: Int16

    // What BlueZ knows.
    var isKnown = false
    /// Never connected: forgotten when it was not seen for some time.
    var isTemporary = true
    var rssi: Int16?
    var lastSeen: UInt64 = 0
    var alias: String?
    var isPaired = false
    var isTrusted = false
    var isBlocked = false
    /// The indexes of the characteristics in the tree; empty where services were never resolved.
    var exported: [Int] = []
    /// What was last read of each characteristic, by its index.
    var lastValues: [Int: [UInt8]] = [:]
    var lastDescriptions: Set<Int> = []

    // The link.
    var link = Link.down
    /// Counts links and attempts, so that a timer knows whether it still applies.
    var attempt: UInt64 = 0
    var isResolved = false
    var pairing: RadioCall?
    /// An agent was asked whether the link may be encrypted; reads and writes wait.
    var isAsking = false
    var operations: [GATTOperation] = []
    /// The first of ``operations`` has been handed to the board.
    var isOperating = false
    var loss: LinkLoss?

    // Faults that this board has from the start.
    var vanishesOnce = false
    var hasStaleCache = false
    /// BlueZ has keys that the board lost: each link breaks as it is to be encrypted.
    var hasStaleBond = false

    // Timers that are set.
    var isSightingDue = false
    var isForgetTimerSet = false

    init(
        address: String, name: String, application: GATTApplication, isServing: Bool = true, level: Int16
    ) {
        self.address = address
        self.name = name
        self.application = application
        self.isServing = isServing
        self.level = level
        path = BlueZPath.deviceText(address)
    }

    /// The board started anew, and has another random address.
    mutating func readdress() {
        let last = UInt8(address.suffix(2), radix: 16) ?? 0
        address = String(address.dropLast(2)) + hexDigits([last &+ 0x40]).uppercased()
        path = BlueZPath.deviceText(address)
    }

    /// A connected board does not advertise.
    var isAdvertising: Bool { isServing && link != .up && !isClosing }

    var isClosing: Bool { if case .closing = link { true } else { false } }
    var isConnected: Bool { link == .up || isClosing }

    var dashedAddress: String { address.split(separator: ":").joined(separator: "-") }

    /// What the daemon believes the board to have.
    var remembered: [Int] {
        guard hasStaleCache else { return Array(application.characteristics.indices) }
        let other = application.withoutApplication
        return application.characteristics.indices.filter {
            other.characteristics.contains(application.characteristics[$0])
        }
    }

    // MARK: paths

    var servicePath: String { path + "/" + BlueZPath.attribute("service", application.serviceHandle) }

    func characteristicPath(_ index: Int) -> String {
        servicePath + "/" + BlueZPath.attribute("char", application.characteristics[index].handle)
    }

    func descriptorPath(_ index: Int) -> String {
        characteristicPath(index) + "/"
            + BlueZPath.attribute("desc", application.characteristics[index].descriptorHandle)
    }
}

/// A read or write that a client waits for. A link carries one at a time; the others wait in line.
struct GATTOperation: Sendable, Equatable {
    enum Kind: Sendable, Equatable {
        case write([UInt8])
        case read(offset: Int)
        case readDescription(offset: Int)
    }

    var kind: Kind
    var characteristic: Int
    /// Reads of the same value share one answer.
    var calls: [RadioCall]

    var isWrite: Bool { if case .write = kind { true } else { false } }
    /// Of the value, and not of its description.
    var isOfValue: Bool { if case .readDescription = kind { false } else { true } }
}

/// That a link will break, and when.
struct LinkLoss: Sendable, Equatable {
    enum Moment: UInt64, Sendable, CaseIterable {
        /// The write is lost on its way.
        case beforeHandler
        /// The board executed the write, and its acknowledgement is lost.
        case afterHandler
        /// The write is acknowledged, and its answer can no longer be read.
        case beforeRead
    }

    /// Writes until then, the last one included.
    var writes: Int
    var moment: Moment
}
