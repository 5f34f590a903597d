// SPDX-License-Identifier: Apache-2.0
import RainCore
import RainIO
import Synchronization

/// One packet of Improv over a serial port: `IMPROV`, the version 1, a type, a length, that many bytes, and a checksum
/// (improv-wifi.com/serial, "Packet format").
public struct ImprovFrame: Sendable, Equatable {
    /// What a packet is; the raw value is its byte.
    public enum Kind: UInt8, Sendable {
        /// From the board: one byte, an ``ImprovState``.
        case state = 1
        /// From the board: one byte, an ``ImprovFailure``.
        case failure = 2
        /// To the board: a command, the length of its data, the data.
        case command = 3
        /// From the board: the command that it answers, the length of its strings, the strings.
        case result = 4
    }

    static let header = Array("IMPROV".utf8)
    static let version: UInt8 = 1

    /// The packet's type.
    public var kind: Kind
    /// At most 255 bytes.
    public var data: [UInt8]

    /// - Parameter data: what is longer than 255 bytes is cut off; no message of the protocol is.
    public init(_ kind: Kind, _ data: [UInt8]) {
        self.kind = kind
        self.data = Array(data.prefix(255))
    }

    /// The bytes on the wire, with the line feed behind them that boards use to flush, and that is no part of the packet.
    public var encoded: [UInt8] {
        let frame = Self.header + [Self.version, kind.rawValue, UInt8(data.count)] + data
        return frame + [Self.checksum(frame), 0x0A]
    }

    /// The low byte of the sum of everything before it.
    static func checksum(_ bytes: some Sequence<UInt8>) -> UInt8 { bytes.reduce(0, &+) }
}

/// Where a board is, as packets of the type 1 say (improv-wifi's `sdk-cpp`, `src/improv.h`).
public enum ImprovState: UInt8, Sendable {
    /// It takes no settings now, as one that has gone over to Ethernet.
    case stopped = 0
    /// It waits for a button to be pressed. Over a cable boards skip this; some firmware shares it with Improv over Bluetooth.
    case awaitingAuthorization = 1
    /// It takes Wi-Fi settings.
    case ready = 2
    /// It tries the settings that it was given.
    case provisioning = 3
    /// It is on its network.
    case provisioned = 4
    /// It looks for networks.
    case scanning = 5
}

/// What a board could not do, as packets of the type 2 say.
public enum ImprovFailure: UInt8, Sendable {
    /// The one before it is over.
    case none = 0
    /// A command that could not be read.
    case malformedCommand = 1
    /// A command that this firmware does not have.
    case unknownCommand = 2
    /// The network could not be joined.
    case unableToConnect = 3
    /// It waits for a button first.
    case notAuthorized = 4
    /// A host name that it does not take.
    case badHostname = 5
    /// Something else.
    case unknown = 0xFF
}

/// What a board is asked for; the raw value is the command's byte.
public enum ImprovCommand: UInt8, Sendable {
    /// Take a network's name and passphrase, and join it.
    case joinNetwork = 1
    /// Say where you are.
    case state = 2
    /// Say what you are: firmware, its version, the chip, the device's name.
    case information = 3
    /// List the networks, one in each result, and an empty result behind the last.
    case scan = 4
    /// Say or take the host name.
    case hostname = 5
    /// Say or take the device's name.
    case deviceName = 6
    /// Say how the network is.
    case network = 7
}

extension ImprovFrame {
    /// A command with strings of at most 255 bytes, each behind its length.
    ///
    /// - Returns: nil where they do not fit into one packet: 253 bytes with their lengths.
    public static func command(_ command: ImprovCommand, _ strings: [[UInt8]] = []) -> ImprovFrame? {
        guard strings.allSatisfy({ $0.count <= 255 }) else { return nil }
        let data = strings.flatMap { [UInt8($0.count)] + $0 }
        guard data.count <= 253 else { return nil }
        return ImprovFrame(.command, [command.rawValue, UInt8(data.count)] + data)
    }

    /// Where the board is, if the packet says so.
    public var state: ImprovState? {
        kind == .state && data.count == 1 ? ImprovState(rawValue: data[0]) : nil
    }

    /// What the board could not do, if the packet says so; what is not in the list is ``ImprovFailure/unknown``.
    public var failure: ImprovFailure? {
        kind == .failure && data.count == 1 ? ImprovFailure(rawValue: data[0]) ?? .unknown : nil
    }

    /// The answer to a command, if the packet is one whose lengths add up.
    public var result: (command: ImprovCommand, strings: [[UInt8]])? {
        guard kind == .result, data.count >= 2, let command = ImprovCommand(rawValue: data[0]),
            Int(data[1]) == data.count - 2
        else { return nil }
        var strings: [[UInt8]] = []
        var rest = data[2...]
        while let length = rest.popFirst() {
            guard rest.count >= Int(length) else { return nil }
            strings.append(Array(rest.prefix(Int(length))))
            rest = rest.dropFirst(Int(length))
        }
        return (command, strings)
    }

    /// Whether only a board that speaks Improv sends such a packet: an echo of a command is none.
    public var isFromBoard: Bool { state != nil || failure != nil || result != nil }
}

/// Finds Improv's packets in what a board prints, whose log may stand between them and look like the beginning of one.
///
/// A value without a clock. It keeps no more than one packet's bytes. What turns out to be no packet, by its version, its type or its
/// checksum, is looked through again from its second byte on, so that a packet behind a false beginning is not lost.
public struct ImprovReader: Sendable {
    private var pending: [UInt8] = []

    public init() {}

    /// Takes what was read, and returns the packets that are whole now, in order.
    public mutating func take(_ bytes: some Sequence<UInt8>) -> [ImprovFrame] {
        var frames: [ImprovFrame] = []
        for byte in bytes {
            pending.append(byte)
            while let step = step() {
                switch step {
                case .frame(let frame):
                    frames.append(frame)
                    pending.removeAll()
                case .skip: skip()
                }
            }
        }
        return frames
    }

    private enum Step {
        case frame(ImprovFrame)
        case skip
    }

    private static let headerLength = ImprovFrame.header.count
    /// Header, version, type, length.
    private static let preludeLength = headerLength + 3

    /// What the pending bytes are; nil while more are needed.
    private func step() -> Step? {
        guard !pending.isEmpty else { return nil }
        guard zip(pending, ImprovFrame.header).allSatisfy({ $0 == $1 }) else { return .skip }
        guard pending.count > Self.headerLength else { return nil }
        guard pending[Self.headerLength] == ImprovFrame.version else { return .skip }
        guard pending.count > Self.headerLength + 1 else { return nil }
        guard let kind = ImprovFrame.Kind(rawValue: pending[Self.headerLength + 1]) else { return .skip }
        guard pending.count >= Self.preludeLength else { return nil }
        let length = Int(pending[Self.headerLength + 2])
        let end = Self.preludeLength + length
        guard pending.count > end else { return nil }
        guard ImprovFrame.checksum(pending[..<end]) == pending[end] else { return .skip }
        return .frame(ImprovFrame(kind, Array(pending[Self.preludeLength..<end])))
    }

    /// Drops the first byte, and those up to the next that a packet may begin with.
    private mutating func skip() {
        let next = pending.dropFirst().firstIndex(of: ImprovFrame.header[0])
        pending.removeFirst(next ?? pending.count)
    }
}

/// The packets that came from a board and that nobody has taken yet: fed by whoever reads the port, asked by one task at a time.
public final class ImprovInbox: Sendable {
    private struct State {
        var reader = ImprovReader()
        var frames: [ImprovFrame] = []
        var waiter: Waiter<ImprovFrame?>?
        var hasHeard = false
    }

    /// More than a scan brings; of a board that says more while nobody listens, the oldest go.
    static let capacity = 512

    private let state = Mutex(State())

    public init() {}

    /// Takes what was read from the port.
    public func take(_ bytes: [UInt8]) {
        state.withLock { state in
            let frames = state.reader.take(bytes).filter(\.isFromBoard)
            guard !frames.isEmpty else { return }
            state.hasHeard = true
            state.frames += frames
            if state.frames.count > Self.capacity { state.frames.removeFirst(state.frames.count - Self.capacity) }
            guard let waiter = state.waiter else { return }
            state.waiter = nil
            if waiter.resume(returning: state.frames[0]) { state.frames.removeFirst() }
        }
    }

    /// Whether a board that speaks Improv has said anything yet.
    public var hasHeard: Bool { state.withLock { $0.hasHeard } }

    /// The next packet; nil once the time is over, and where the task is cancelled.
    func next(within limit: Duration) async -> ImprovFrame? {
        let waiter = Waiter<ImprovFrame?>()
        state.withLock { state in
            guard state.frames.isEmpty else {
                waiter.resume(returning: state.frames.removeFirst())
                return
            }
            state.waiter = waiter
        }
        return await waiter.value(within: limit) { [self] _ in
            state.withLock { if $0.waiter === waiter { $0.waiter = nil } }
            waiter.resume(returning: nil)
        }
    }

    /// Forgets what came and was not asked for.
    func clear() { state.withLock { $0.frames = [] } }
}
