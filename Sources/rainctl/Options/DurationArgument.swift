// SPDX-License-Identifier: Apache-2.0
import ArgumentParser

/// A time on the command line: `6`, `6s`, `500ms`, `2m`, `5h`, `30d`; a year at most.
struct DurationArgument: ExpressibleByArgument, Equatable {
    let duration: Duration

    private static let maximumMilliseconds: Int64 = 31_536_000_000

    init(_ duration: Duration) { self.duration = duration }

    init?(argument: String) {
        let units: [(suffix: String, milliseconds: Int64)] = [
            ("ms", 1), ("s", 1000), ("m", 60_000), ("h", 3_600_000), ("d", 86_400_000), ("", 1000),
        ]
        guard let unit = units.first(where: { argument.hasSuffix($0.suffix) }),
            case let digits = argument.dropLast(unit.suffix.count), let value = Double(digits),
            digits.allSatisfy({ $0.isASCII && ($0.isNumber || $0 == ".") }), value > 0,
            value * Double(unit.milliseconds) <= Double(Self.maximumMilliseconds)
        else { return nil }
        duration = .milliseconds(Int64(value * Double(unit.milliseconds)))
    }

    var defaultValueDescription: String {
        let milliseconds = duration / .milliseconds(1)
        return milliseconds >= 1000 ? "\(Int(milliseconds / 1000))s" : "\(Int(milliseconds))ms"
    }
}

extension ArgumentHelp {
    /// What `--timeout` is, wherever there is one.
    static var timeLimit: ArgumentHelp {
        ArgumentHelp("The time for everything: 6, 6s, 500ms, 2m.", valueName: "time")
    }
}
