// SPDX-License-Identifier: Apache-2.0
import ArgumentParser

/// A time limit on the command line: `6`, `6s`, `500ms`, `2m`, `2h`; at most a day.
struct DurationArgument: ExpressibleByArgument, Equatable {
    let duration: Duration

    init(_ duration: Duration) { self.duration = duration }

    init?(argument: String) {
        guard let duration = Duration(argument: argument, atMost: .seconds(86_400)) else { return nil }
        self.duration = duration
    }

    var defaultValueDescription: String { duration.inShort }
}

/// How long something lasts or is away, which may be days: `30s`, `12h`, `7d`. What takes it has bounds of its own.
struct SpanArgument: ExpressibleByArgument, Equatable {
    let duration: Duration

    init(_ duration: Duration) { self.duration = duration }

    init?(argument: String) {
        // Ten years, so that no sum of it and a date runs over.
        guard let duration = Duration(argument: argument, atMost: .seconds(10 * 366 * 86_400)) else { return nil }
        self.duration = duration
    }

    var defaultValueDescription: String { duration.inShort }
}

extension Duration {
    /// A number and a unit, seconds where there is none; nil for anything else, for nothing at all, and for more than `limit`.
    fileprivate init?(argument: String, atMost limit: Duration) {
        let units: [(suffix: String, milliseconds: Int64)] = [
            ("ms", 1), ("s", 1000), ("m", 60_000), ("h", 3_600_000), ("d", 86_400_000), ("", 1000),
        ]
        guard let unit = units.first(where: { argument.hasSuffix($0.suffix) }),
            case let digits = argument.dropLast(unit.suffix.count), let value = Double(digits),
            digits.allSatisfy({ $0.isASCII && ($0.isNumber || $0 == ".") }), value > 0,
            value * Double(unit.milliseconds) <= limit / .milliseconds(1)
        else { return nil }
        self = .milliseconds(Int64(value * Double(unit.milliseconds)))
    }

    fileprivate var inShort: String {
        let milliseconds = self / .milliseconds(1)
        return milliseconds >= 1000 ? "\(Int(milliseconds / 1000))s" : "\(Int(milliseconds))ms"
    }
}

extension ArgumentHelp {
    /// What `--timeout` is, wherever there is one.
    static var timeLimit: ArgumentHelp {
        ArgumentHelp("The time for everything: 6, 6s, 500ms, 2m.", valueName: "time")
    }
}
