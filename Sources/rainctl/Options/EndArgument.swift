// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import RainKit

/// When something ends, on the command line: a date and time of day in UTC (`2030-01-01T12:00:00Z`), or the time until then.
enum EndArgument: ExpressibleByArgument, Equatable {
    case at(UnixTime)
    case after(Duration)

    init?(argument: String) {
        if let duration = DurationArgument(argument: argument)?.duration {
            self = .after(duration)
        } else if let time = UnixTime(utc: argument) {
            self = .at(time)
        } else {
            return nil
        }
    }

    func moment(from now: UnixTime) -> UnixTime {
        switch self {
        case .at(let time): time
        case .after(let duration): now + duration / .seconds(1)
        }
    }
}
