// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import DeviceCore

enum ConsoleDialect: String, ExpressibleByArgument, CaseIterable {
    /// ESP-IDF's protocomm console.
    case protocomm
    /// The commands of the stock RainMaker examples.
    case rainmaker
    /// Improv, by which a board takes its Wi-Fi over a cable.
    case improv
    /// None: the board prints its log and reads nothing, as stock firmware on the chip's own USB.
    case logOnly = "log-only"
}

/// What the board prints when it starts.
enum BootLogOption: String, ExpressibleByArgument, CaseIterable {
    /// esp-rainmaker's examples: led_light, which prints the QR code and its address, and switch, which prints the code's text as well.
    case ledLight = "led-light"
    case `switch`
    /// RainMaker's applications from before August 2024, which name the proof of possession in a line of its own.
    case older
    /// idf-extra-components' wifi_prov.
    case wifiProv = "wifi-prov"
    /// A board that has a network already.
    case provisioned
    /// Boards that do not come up.
    case emptyFlash = "empty-flash"
    case crashLoop = "crash-loop"
    case brownOut = "brown-out"
    case download
    case noApplication = "no-application"
    case wrongChip = "wrong-chip"
    /// Bytes of another speed.
    case unreadable
    /// An application that says nothing of provisioning.
    case plain
    /// Not a word.
    case silent

    /// Whether the application comes up, and its console with it.
    var comesUp: Bool {
        switch self {
        case .ledLight, .switch, .older, .wifiProv, .provisioned, .plain, .silent: true
        default: false
        }
    }
}

/// Where the log lines of the board's other tasks come on its console.
enum ConsoleNoise: String, ExpressibleByArgument, CaseIterable {
    case none
    /// Between the lines.
    case between
    /// Also inside an answer that the firmware prints piece by piece.
    case inside
}

enum FaultOption: String, ExpressibleByArgument, CaseIterable {
    case auth
    case notFound = "not-found"
    case stuck
    case none

    var fault: SimulatedRadio.Fault {
        switch self {
        case .auth: .authentication
        case .notFound: .notFound
        case .stuck: .stuck
        case .none: .none
        }
    }
}

enum MappingOption: String, ExpressibleByArgument, CaseIterable {
    case user
    case challengeResponse = "ch-resp"
    case none

    var association: DeviceConfiguration.Association {
        switch self {
        case .user: .userMapping
        case .challengeResponse: .challengeResponse
        case .none: .none
        }
    }
}

enum LogLevel: String, ExpressibleByArgument, CaseIterable, Comparable {
    case error, warning, info, debug

    static func < (left: LogLevel, right: LogLevel) -> Bool { left.rank < right.rank }
    private var rank: Int { Self.allCases.firstIndex(of: self)! }
}
