// SPDX-License-Identifier: Apache-2.0
import RainCore
import RainIO
import Synchronization

/// One packet of Improv over a serial port: `IMPROV`, the version 1, a type, a length, that many bytes, and a checksum
/// (improv-wifi.com/serial, "Packet format").
public struct ImprovFrame: Sendable, Equatable {
    /// The type of a packet; the raw value is its byte.
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

    /// - Parameter data: truncated to 255 bytes; no message of the protocol is longer.
    public init(_ kind: Kind, _ data: [UInt8]) {
        self.kind = kind
        self.data = Array(data.prefix(255))
    }

    /// The bytes on the wire, followed by the line feed that boards use to flush. It does not belong to the packet.
    public var encoded: [UInt8] {
        let frame = Self.header + [Self.version, kind.rawValue, UInt8(data.count)] + data
        return frame + [Self.checksum(frame), 0x0A]
    }

    /// The low byte of the sum of all preceding bytes.
    static func checksum(_ bytes: some Sequence<UInt8>) -> UInt8 { bytes.reduce(0, &+) }
}

/// A board's state, in packets of type 1 (improv-wifi's `sdk-cpp`, `src/improv.h`).
public enum ImprovState: UInt8, Sendable {
    /// It accepts no settings now, for example because it uses Ethernet.
    case stopped = 0
    /// It waits for a button to be pressed. Boards on a cable skip this state, but some firmware shares it with Improv over Bluetooth.
    case awaitingAuthorization = 1
    /// It accepts Wi-Fi settings.
    case ready = 2
    /// It is trying the settings that it received.
    case provisioning = 3
    /// It is on its network.
    case provisioned = 4
    /// It is scanning for networks.
    case scanning = 5
}

/// A board's error, in packets of type 2.
public enum ImprovFailure: UInt8, Sendable {
    /// The previous error is over.
    case none = 0
    /// The board could not read a command.
    case malformedCommand = 1
    /// The firmware does not support the command.
    case unknownCommand = 2
    /// The board could not join the network.
    case unableToConnect = 3
    /// The board waits for a button first.
    case notAuthorized = 4
    /// The board does not accept the host name.
    case badHostname = 5
    /// Another error.
    case unknown = 0xFF
}

/// A command to a board; the raw value is its byte.
public enum ImprovCommand: UInt8, Sendable {
    /// Sends a network's name and passphrase, and makes the board join it.
    case joinNetwork = 1
    /// Asks for the board's state.
    case state = 2
    /// Asks for the firmware, its version, the chip and the device's name.
    case information = 3
    /// Asks for the networks: one in each result, and an empty result after the last.
    case scan = 4
    /// Asks for the host name, or sets it.
    case hostname = 5
    /// Asks for the device's name, or sets it.
    case deviceName = 6
    /// Asks for the state of the network connection.
    case network = 7
}

extension ImprovFrame {
    /// Makes a command with strings of at most 255 bytes, each after its length.
    ///
    /// - Returns: nil if the strings with their lengths do not fit into one packet (253 bytes).
    public static func command(_ command: ImprovCommand, _ strings: [[UInt8]] = []) -> ImprovFrame? {
        guard strings.allSatisfy({ $0.count <= 255 }) else { return nil }
        let data = strings.flatMap { [UInt8($0.count)] + $0 }
        guard data.count <= 253 else { return nil }
        return ImprovFrame(.command, [command.rawValue, UInt8(data.count)] + data)
    }

    /// The board's state, if the packet contains one.
    public var state: ImprovState? {
        kind == .state && data.count == 1 ? ImprovState(rawValue: data[0]) : nil
    }

    /// The board's error, if the packet contains one. An unlisted error is ``ImprovFailure/unknown``.
    public var failure: ImprovFailure? {
        kind == .failure && data.count == 1 ? ImprovFailure(rawValue: data[0]) ?? .unknown : nil
    }

    /// The answer to a command, if the packet is one and its lengths are consistent.
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

    /// Whether only a board with Improv sends such a packet; the echo of a command does not count.
    public var isFromBoard: Bool { state != nil || failure != nil || result != nil }
}

/// Finds Improv's packets in a board's output. Its log may appear between them and look like the beginning of a packet.
///
/// It is a value without a clock, and keeps at most one packet's bytes. If bytes turn out to be no packet because of their version, type or
/// checksum, they are searched again from the second byte on. So a packet after a false beginning is not lost.
public struct ImprovReader: Sendable {
    private var pending: [UInt8] = []

    public init() {}

    /// Takes bytes that were read, and returns the packets that are now complete, in order.
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
    /// The length of header, version, type and length.
    private static let preludeLength = headerLength + 3

    /// Decides about the pending bytes; nil while more are needed.
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

    /// Drops the first byte, and the following ones up to the next that may begin a packet.
    private mutating func skip() {
        let next = pending.dropFirst().firstIndex(of: ImprovFrame.header[0])
        pending.removeFirst(next ?? pending.count)
    }
}

/// The packets from a board that nobody has taken yet. One task feeds it from the port; another one takes the packets.
public final class ImprovInbox: Sendable {
    private struct State {
        var reader = ImprovReader()
        var frames: [ImprovFrame] = []
        var waiter: Waiter<ImprovFrame?>?
        var hasHeard = false
    }

    /// More than a scan sends. If more packets arrive while nobody takes them, the oldest are dropped.
    static let capacity = 512

    private let state = Mutex(State())

    public init() {}

    /// Accepts bytes that were read from the port.
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

    /// Whether a board with Improv has sent anything yet.
    public var hasHeard: Bool { state.withLock { $0.hasHeard } }

    /// Returns the next packet; nil after `limit`, or if the task is cancelled.
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

    /// Drops the packets that have arrived.
    func clear() { state.withLock { $0.frames = [] } }
}
