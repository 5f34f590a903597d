// SPDX-License-Identifier: Apache-2.0
import Glibc

/// A file of rules as udev(7) describes them, as far as one for serial ports goes.
struct UdevRules {
    /// Such as `ATTRS{idVendor}=="303a"`.
    struct Term {
        var key: String
        var attribute: String?
        var operation: String
        var value: String

        var isMatch: Bool { ["==", "!="].contains(operation) }
    }

    private(set) var rules: [[Term]] = []
    /// What is wrong, with the number of its line.
    private(set) var faults: [String] = []

    private static let matched: Set = [
        "ACTION", "DEVPATH", "KERNEL", "KERNELS", "NAME", "SYMLINK", "SUBSYSTEM", "SUBSYSTEMS", "DRIVER", "DRIVERS",
        "ATTR",
        "ATTRS", "SYSCTL", "ENV", "CONST", "TAG", "TAGS", "TEST", "PROGRAM", "RESULT",
    ]
    private static let assigned: Set = [
        "NAME", "SYMLINK", "OWNER", "GROUP", "MODE", "SECLABEL", "ATTR", "SYSCTL", "ENV", "TAG", "RUN", "LABEL", "GOTO",
        "IMPORT", "OPTIONS",
    ]
    private static let withAttribute: Set = ["ATTR", "ATTRS", "SYSCTL", "ENV", "CONST", "IMPORT", "SECLABEL"]

    init(_ text: String) {
        for (index, line) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
            let line = line.drop { $0 == " " }
            guard !line.isEmpty, !line.hasPrefix("#") else { continue }
            var rule: [Term] = []
            var rest = line
            while !rest.isEmpty {
                guard let match = rest.prefixMatch(of: /([A-Z]+)(?:\{([^}]+)\})?(==|!=|\+=|-=|:=|=)"([^"]*)"/) else {
                    faults.append("\(index + 1): no term: \(rest)")
                    break
                }
                let term = Term(
                    key: String(match.1), attribute: match.2.map(String.init), operation: String(match.3),
                    value: String(match.4))
                if !(term.isMatch ? Self.matched : Self.assigned).contains(term.key) {
                    faults.append("\(index + 1): \(term.key) does not go with \(term.operation)")
                }
                if Self.withAttribute.contains(term.key) != (term.attribute != nil) {
                    faults.append("\(index + 1): \(term.key) \(term.attribute == nil ? "without" : "with") {…}")
                }
                rule.append(term)
                rest = rest[match.range.upperBound...]
                // Between two terms there is a comma.
                if let comma = rest.prefixMatch(of: /, */), comma.range.upperBound < rest.endIndex {
                    rest = rest[comma.range.upperBound...]
                } else if !rest.isEmpty {
                    faults.append("\(index + 1): no comma: \(rest)")
                    break
                }
            }
            rules.append(rule)
        }
        for (index, rule) in rules.enumerated() {
            for term in rule where term.key == "GOTO" && label(term.value, after: index) == nil {
                faults.append("GOTO \(term.value): no such label below")
            }
        }
    }

    private func label(_ name: String, after index: Int) -> Int? {
        rules.indices.dropFirst(index + 1).first { next in
            rules[next].contains { $0.key == "LABEL" && $0.value == name }
        }
    }

    /// What the rules set for a device: `TAG+=uaccess`.
    /// - Parameters:
    ///   - device: its `ACTION` and `SUBSYSTEM`.
    ///   - attributes: those of its one parent with such attributes.
    func applied(to device: [String: String], attributes: [String: String]) -> [String] {
        var done: [String] = []
        var index = 0
        while index < rules.count {
            let rule = rules[index]
            let isMatched = rule.filter(\.isMatch).allSatisfy { term in
                let value = term.attribute.map { attributes[$0] } ?? device[term.key]
                let fits = value.map { value in
                    term.value.split(separator: "|").contains { fnmatch(String($0), value, 0) == 0 }
                }
                return (fits ?? false) == (term.operation == "==")
            }
            var next = index + 1
            for term in rule where isMatched && !term.isMatch && term.key != "LABEL" {
                if term.key == "GOTO" {
                    next = label(term.value, after: index) ?? rules.count
                } else {
                    let name = term.key + (term.attribute.map { "{\($0)}" } ?? "")
                    let value = attributes.reduce(term.value) { $0.replacing("$attr{\($1.key)}", with: $1.value) }
                    done.append("\(name)\(term.operation)\(value)")
                }
            }
            index = next
        }
        return done
    }
}
