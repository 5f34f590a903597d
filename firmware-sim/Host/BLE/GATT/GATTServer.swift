// SPDX-License-Identifier: Apache-2.0
import RainCore
import DeviceCore
import ProtocommCore
import RainJSON

/// A board's GATT server, which both radios, the simulated one and a real adapter, use to reach a ``Board``.
///
/// The caller reports links, writes and reads, one at a time, in the order in which they arrive.
final class GATTServer {
    let board: Board
    let application: GATTApplication
    private let stack: GATTStack
    private var values: GATTValues
    private var session: UInt32?
    /// The characteristic whose handler occupies the board.
    private var busy: Int?

    init(board: Board, stack: GATTStack = .nimble, limit: Int? = nil) {
        self.board = board
        self.stack = stack
        application = GATTApplication(endpoints: board.core.configuration.endpoints)
        values = GATTValues(stack: stack, limit: limit)
    }

    /// Whether the board advertises and accepts connections; false once provisioning has stopped.
    var isServing: Bool { board.core.isServing }

    /// Each link has its own security session.
    func connected() {
        let id = board.newSessionID()
        session = id
        values.clear()
        busy = nil
        board.journal.state("link_up")
        board.openSession(id)
    }

    func disconnected(_ reason: String) {
        guard session != nil else { return }
        session = nil
        values.clear()
        busy = nil
        board.journal.state("link_down", [.init("reason", .string(reason))])
    }

    func write(_ value: [UInt8], to characteristic: Int, offset: Int = 0) -> GATTWriteOutcome {
        guard let session, application.characteristics.indices.contains(characteristic), busy == nil else {
            return .refused(.unlikely, closesLink: false)
        }
        if let verdict = values.verdict(onWriting: value, offset: offset) {
            board.log(.debug, "ble", "\(application.characteristics[characteristic].endpoint): \(verdict)")
            return verdict
        }
        let endpoint = application.characteristics[characteristic].endpoint
        let answer = board.respond(to: value, on: endpoint, session: session, transport: "ble")
        if answer == .later { busy = characteristic }
        return values.take(answer, at: characteristic)
    }

    /// Returns the outcome of the write that was answered with ``GATTWriteOutcome/later``, if it is available. Call it after the board was
    /// woken.
    func delayedOutcome() -> GATTWriteOutcome? {
        guard let characteristic = busy else { return nil }
        let endpoint = application.characteristics[characteristic].endpoint
        let answer = board.delayedAnswer(on: endpoint, transport: "ble")
        guard answer != .later else { return nil }
        busy = nil
        return values.take(answer, at: characteristic)
    }

    func read(_ characteristic: Int, offset: Int = 0) throws(ATTError) -> [UInt8] {
        guard session != nil, application.characteristics.indices.contains(characteristic) else { throw .unlikely }
        return try values.read(characteristic, offset: offset)
    }
}

/// The GATT service of a board: one characteristic for each endpoint, with the endpoint's name in a user description.
///
/// protocomm gives each endpoint a 16-bit id, and puts it into the service's UUID. The endpoints of the provisioning service have fixed
/// ids; those of the application get the following ids in the order of their creation.
struct GATTApplication: Sendable, Equatable {
    struct Characteristic: Sendable, Equatable {
        var endpoint: Endpoint
        /// 128-bit, lower case.
        var uuid: String
        /// The handle of the declaration; the value has the next one.
        var handle: UInt16
        var descriptorHandle: UInt16

        /// The user description: the endpoint's name, without a NUL.
        var userDescription: [UInt8] { endpoint.name }
    }

    /// The service that ESP-IDF's examples and RainMaker advertise.
    static let rainMakerService = "021a9004-0382-4aea-bff4-6b3f1c5adfb4"
    /// Characteristic User Description (0x2901).
    static let userDescriptionUUID = "00002901-0000-1000-8000-00805f9b34fb"
    /// Read, and write with response. There is no write without response.
    static let flags = ["read", "write"]
    /// The flags for a link that must be encrypted.
    static let encryptedFlags = ["read", "write", "encrypt-read", "encrypt-write"]

    var serviceUUID: String
    var serviceHandle: UInt16
    var characteristics: [Characteristic]

    /// - Parameters:
    ///   - endpoints: in the order in which the firmware makes them.
    ///   - serviceHandle: the first handle after those of the stack's own services.
    init(endpoints: [Endpoint], serviceUUID: String = rainMakerService, serviceHandle: UInt16 = 0x000C) {
        self.serviceUUID = serviceUUID
        self.serviceHandle = serviceHandle
        characteristics = []
        var handle = serviceHandle + 1
        for (endpoint, id) in zip(endpoints, Self.shortIDs(of: endpoints)) {
            characteristics.append(
                Characteristic(
                    endpoint: endpoint, uuid: Self.uuid(id, in: serviceUUID), handle: handle,
                    descriptorHandle: handle + 2))
            handle += 3
        }
    }

    /// The service of a firmware without an application of its own.
    var withoutApplication: GATTApplication {
        var other = self
        other.characteristics.removeAll { Self.fixedIDs[$0.endpoint] == nil }
        // If all endpoints are the service's own, the other firmware is an old one without prov-ctrl.
        if other == self { other.characteristics.removeAll { $0.endpoint == .control } }
        return other
    }

    private static let fixedIDs: [Endpoint: UInt16] = [
        .control: 0xFF4F, .scan: 0xFF50, .session: 0xFF51, .config: 0xFF52, .version: 0xFF53,
    ]

    private static func shortIDs(of endpoints: [Endpoint]) -> [UInt16] {
        var next: UInt16 = 0xFF54
        return endpoints.map { endpoint in
            if let fixed = fixedIDs[endpoint] { return fixed }
            defer { next += 1 }
            return next
        }
    }

    /// Returns the service's UUID with the 16-bit id at bytes 12 and 13 of its little-endian form: the second group of four digits.
    private static func uuid(_ id: UInt16, in service: String) -> String {
        let digits = Hex.text([UInt8(id >> 8), UInt8(id & 0xFF)])
        return service.prefix(4) + digits + service.dropFirst(8)
    }
}

/// The outcome of a write.
enum GATTWriteOutcome: Sendable, Equatable {
    case acknowledged
    case refused(ATTError, closesLink: Bool)
    /// The handler occupies the board's one task; the write is answered when the handler is done.
    case later
}

/// The values behind a board's characteristics while one central is connected, by the rules of ESP-IDF's protocomm.
///
/// A write runs the handler and is acknowledged afterwards. The answer stays in the characteristic for the following reads, until the next
/// write or the end of the link.
struct GATTValues: Sendable {
    private let stack: GATTStack
    /// The longest value in either direction, in bytes.
    private let limit: Int
    private var values: [Int: [UInt8]] = [:]

    init(stack: GATTStack, limit: Int? = nil) {
        self.stack = stack
        self.limit = limit ?? stack.valueLimit
    }

    /// Returns the stack's own result of a write; nil if the handler has to run.
    func verdict(onWriting value: [UInt8], offset: Int) -> GATTWriteOutcome? {
        guard offset == 0 else { return .refused(.invalidOffset, closesLink: false) }
        // It is acknowledged without a change: the next read returns the previous answer.
        guard !value.isEmpty else { return .acknowledged }
        guard value.count <= limit else { return .refused(.invalidValueLength, closesLink: false) }
        return nil
    }

    /// Takes the handler's answer.
    mutating func take(_ answer: DeviceAnswer, at characteristic: Int) -> GATTWriteOutcome {
        switch answer {
        case .later: return .later
        case .refused: return .refused(stack.handlerFailure, closesLink: stack.closesOnFailure)
        case .reply(let reply):
            guard reply.count <= limit else { return .refused(.invalidValueLength, closesLink: false) }
            values[characteristic] = reply
            return .acknowledged
        }
    }

    /// Answers a read, short or long, with the bytes from `offset`. They are empty before the first write.
    func read(_ characteristic: Int, offset: Int) throws(ATTError) -> [UInt8] {
        let value = values[characteristic] ?? []
        guard (0...value.count).contains(offset) else { throw .invalidOffset }
        return Array(value[offset...])
    }

    /// Handles the end of the link.
    mutating func clear() { values = [:] }
}

/// The Bluetooth host in a board's firmware. ESP-IDF has two, and protocomm behaves differently on each.
///
/// Sources: ESP-IDF `protocomm_nimble.c`, `protocomm_ble.c` and `simple_ble.c`.
enum GATTStack: String, Sendable, CaseIterable {
    case nimble, bluedroid

    /// The default maximum length of a characteristic's value, written or read (481 with Security 2 compiled in, 257 in older Bluedroid
    /// firmware without it).
    fileprivate var valueLimit: Int {
        switch self {
        case .nimble: 512
        case .bluedroid: 481
        }
    }

    /// The MTU that the device accepts: NimBLE's preferred one, Bluedroid's local one.
    var mtu: UInt16 {
        switch self {
        case .nimble: 256
        case .bluedroid: 500
        }
    }

    /// The client's error for a failed handler.
    fileprivate var handlerFailure: ATTError {
        switch self {
        case .nimble: .invalidPDU
        case .bluedroid: .bluedroidError
        }
    }

    /// After a failed handler Bluedroid's protocomm closes the link; NimBLE's keeps it.
    fileprivate var closesOnFailure: Bool { self == .bluedroid }
}

/// An error of the Attribute Protocol, as a peripheral sends it (Bluetooth Core Specification, Vol 3, Part F, 3.4.1.1).
struct ATTError: Error, Hashable, Sendable {
    var code: UInt8

    static let readNotPermitted = ATTError(code: 0x02)
    static let writeNotPermitted = ATTError(code: 0x03)
    /// "Invalid PDU": the answer of NimBLE's protocomm after a failed handler.
    static let invalidPDU = ATTError(code: 0x04)
    static let insufficientAuthentication = ATTError(code: 0x05)
    static let requestNotSupported = ATTError(code: 0x06)
    static let invalidOffset = ATTError(code: 0x07)
    static let insufficientAuthorization = ATTError(code: 0x08)
    static let insufficientKeySize = ATTError(code: 0x0C)
    static let invalidValueLength = ATTError(code: 0x0D)
    static let unlikely = ATTError(code: 0x0E)
    static let insufficientEncryption = ATTError(code: 0x0F)
    /// Bluedroid's `ESP_GATT_ERROR`: the answer of its protocomm after a failed handler, before it closes the link.
    static let bluedroidError = ATTError(code: 0x85)
}
