// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import DeviceCore

enum ConsoleDialect: String, ExpressibleByArgument, CaseIterable {
    /// ESP-IDF's protocomm console.
    case protocomm
    /// The commands of the stock RainMaker examples.
    case rainmaker
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
