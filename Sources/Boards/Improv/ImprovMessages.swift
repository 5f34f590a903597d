// SPDX-License-Identifier: Apache-2.0
import RainCore

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
