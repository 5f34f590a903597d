// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import RainJSON
import RainKit
import RainMaker

/// A time of daylight on the command line.
enum DaylightArgument: String, WordArgument { case sunrise, sunset }

/// A rule on the command line: the board and the conditions, and the values that are set then.
struct RuleOptions: ParsableArguments {
    @Option(help: ArgumentHelp("Act on reports of this board, given by its id or name.", valueName: "node"))
    var of: String?

    @Option(
        help: ArgumentHelp(
            "Act when this condition is true, such as Light.Power=on or Sensor.Temperature>30 (repeatable).",
            valueName: "condition"))
    var when: [String] = []

    @Option(
        help: ArgumentHelp(
            "Act in this weather: condition=Rain, or a comparison of temperature, pressure, humidity or wind_speed, such as temperature>30 (repeatable).",
            valueName: "condition"))
    var weather: [String] = []

    @Option(help: "Act at sunrise or at sunset.")
    var daylight: DaylightArgument?

    @Option(
        help: ArgumentHelp(
            "Use the weather or daylight of this place, as latitude,longitude in degrees (default: the place that the phone app stored).",
            valueName: "place"))
    var location: String?

    @Option(help: ArgumentHelp("Set this value, as NODE:DEVICE.PARAM=VALUE (repeatable).", valueName: "change"))
    var set: [String] = []

    @Flag(inversion: .prefixedNo, help: "Act if one of the conditions is true. With --no-any, all must be true.")
    var any: Bool?

    @Flag(
        inversion: .prefixedNo,
        help: "Act at each report while the conditions are true. With --no-retrigger, act only when they become true.")
    var retrigger: Bool?

    private var hasOccasion: Bool { !weather.isEmpty || daylight != nil }

    var isGiven: Bool {
        of != nil || !when.isEmpty || hasOccasion || location != nil || !set.isEmpty || any != nil || retrigger != nil
    }

    func validate() throws {
        for text in when + weather {
            guard let (wrong, right) = Self.misspelledComparison(text) else { continue }
            throw ValidationError("\(wrong) is not a comparison in \"\(text.onOneLine)\": write \(right).")
        }
        for text in when where Self.condition(text) == nil {
            throw ValidationError(
                "\(text.onOneLine) is not a condition: it has no comparison such as = or >. Write a condition like Light.Power=on. "
                    + "Put a condition with < or > in quotation marks, such as 'Room.Temperature>25'."
            )
        }
        for text in weather where Self.weather(text) == nil {
            throw ValidationError(Self.weatherProblem(text))
        }
        guard [of != nil || !when.isEmpty, !weather.isEmpty, daylight != nil].count(where: { $0 }) <= 1 else {
            throw ValidationError("A rule has only one trigger: give --of, --weather or --daylight.")
        }
        if let location {
            guard GeoCoordinates(location) != nil else {
                throw ValidationError(
                    "\(location.onOneLine) is not a place. Write the latitude (-90 to 90) and the longitude (-180 to 180) in degrees, such as 59.91,10.75."
                )
            }
            guard hasOccasion else { throw ValidationError("--location needs --weather or --daylight.") }
        }
        var seen: Set<String> = []
        for text in set {
            guard let (node, change) = Self.target(text), let path = GivenValue.parts(change)?.path else {
                throw ValidationError(
                    "\(text.onOneLine) is not a value for --set. Write NODE:DEVICE.PARAM=VALUE.")
            }
            guard seen.insert("\(node):\(path)").inserted else {
                throw ValidationError("\("\(node):\(path)".onOneLine) is given twice.")
            }
        }
    }

    /// Throws `bad_rule` for a rule in a file without a member that the cloud requires of a new rule.
    static func checkWhole(_ rule: JSONValue, in file: String) throws(CommandFailure) {
        let missing = ["event_type", "events", "actions"].filter { rule[$0]?.unlessNull == nil }
        guard !missing.isEmpty else { return }
        throw CommandFailure(
            .badData, reason: "bad_rule",
            message: "\(file) is not a complete rule: it has no \(missing.joined(separator: " and no ")).")
    }

    static func check(name: String) throws {
        do { try RainKitClient.checkAutomationName(name) } catch { throw ValidationError(error.message) }
    }

    func checkWhole() throws {
        let missing = [
            of == nil && !hasOccasion ? "the board that triggers it (--of)" : nil,
            when.isEmpty && !hasOccasion ? "a condition (--when)" : nil, set.isEmpty ? "a value to set (--set)" : nil,
        ].compactMap(\.self)
        guard missing.isEmpty else {
            throw ValidationError("The rule lacks \(missing.joined(separator: " and ")).")
        }
    }

    /// Returns the rule. Its values are checked against the boards' node configurations.
    func rule(_ client: RainKitClient, document: JSONValue?) async throws -> AutomationRule {
        var rule = AutomationRule(isAnyEnough: any, retriggers: retrigger, document: document)
        if let of {
            let node = try await client.node(named: of)
            rule.reporter = node
            rule.conditions = try conditions(at: node)
        }
        rule.occasion = try await occasion(client)
        rule.actions = try await actions(client)
        return rule
    }

    private func occasion(_ client: RainKitClient) async throws -> AutomationOccasion? {
        guard hasOccasion else { return nil }
        var place = location.flatMap { GeoCoordinates($0) }
        if place == nil { place = try await client.storedCoordinates() }
        guard let place else {
            throw CommandFailure(
                .usage, reason: "no_location",
                message:
                    "The rule has no place, and the phone app has not stored a place with your account. Give --location, such as 59.91,10.75."
            )
        }
        switch daylight {
        case .sunrise: return .sunrise(at: place)
        case .sunset: return .sunset(at: place)
        case nil: return .weather(weather.compactMap { Self.weather($0) }, at: place)
        }
    }

    /// Parses `temperature>30` and `condition=Rain`.
    private static func weather(_ text: String) -> WeatherCondition? {
        guard let (name, comparison, value) = comparison(text) else { return nil }
        if ["condition", "weather_condition"].contains(name) {
            guard comparison == .equal else { return nil }
            return WeatherCondition.Kind.allCases.first { $0.rawValue.lowercased() == value.lowercased() }
                .map { WeatherCondition($0) }
        }
        guard let quantity = WeatherCondition.Quantity(rawValue: name), let number = Double(value), number.isFinite
        else {
            return nil
        }
        return WeatherCondition(quantity, comparison, number)
    }

    /// Returns the reason why a text is not a condition for the weather.
    private static func weatherProblem(_ text: String) -> String {
        let example = "Write condition=Rain or temperature>30."
        guard let (name, comparison, value) = comparison(text) else {
            return
                "\(text.onOneLine) is not a condition for the weather: it has no comparison such as = or >. \(example)"
        }
        let quantities = WeatherCondition.Quantity.allCases.map(\.rawValue)
        if ["condition", "weather_condition"].contains(name) {
            guard comparison == .equal else {
                return
                    "\(text.onOneLine) is not a condition for the weather: the condition can only be compared with =. \(example)"
            }
            let kinds = WeatherCondition.Kind.allCases.map(\.rawValue).joined(separator: ", ")
            return "\"\(value.onOneLine)\" is not a kind of weather: give one of \(kinds)."
        }
        guard quantities.contains(name) else {
            return
                "There is no weather value \"\(name.onOneLine)\": give one of \((["condition"] + quantities).joined(separator: ", "))."
        }
        return "\"\(value.onOneLine)\" is not a number, so \(name) cannot be compared with it. \(example)"
    }

    /// Returns a wrong spelling of a comparison in a condition, and the right one; nil without such a spelling. The value after `=` may be
    /// a text that begins with a sign.
    private static func misspelledComparison(_ text: String) -> (wrong: String, right: String)? {
        guard let start = text.firstIndex(where: { "=!<>".contains($0) }) else { return nil }
        let rest = text[start...]
        let spellings = [
            ("===", "=="), ("!==", "!="), ("=>", ">="), ("=<", "<="), ("<>", "!="), ("=!", "!="), ("<<", "<"),
            (">>", ">"),
        ]
        guard let (wrong, right) = spellings.first(where: { rest.hasPrefix($0.0) }) else { return nil }
        let value = rest.dropFirst(wrong.count).trimmingBlanks
        let isLiteral = Double(value) != nil || ["on", "off", "true", "false"].contains(value.lowercased())
        return wrong.hasPrefix("=") && !isLiteral ? nil : (wrong: wrong, right: right)
    }

    private func conditions(at node: Node) throws(RainKitError) -> [AutomationCondition] {
        let configuration = try node.described()
        var conditions: [AutomationCondition] = []
        do throws(ParameterError) {
            for text in when {
                guard let (path, comparison, value) = Self.condition(text) else { continue }
                let read = try configuration.value(try configuration.path(path), from: value)
                conditions.append(AutomationCondition(read.path, comparison, read.value))
            }
        } catch {
            throw RainKitError(error, at: node.shownName)
        }
        return conditions
    }

    /// Returns the values to set, board by board. A board may have been given by its id and also by its name.
    private func actions(_ client: RainKitClient) async throws -> [(node: Node, changes: [ParameterChange])] {
        var targets: [(node: Node, texts: [String])] = []
        for text in set {
            guard let (name, change) = Self.target(text) else { continue }
            let node = try await client.node(named: name)
            if let index = targets.firstIndex(where: { $0.node.id == node.id }) {
                targets[index].texts.append(change)
            } else {
                targets.append((node, [change]))
            }
        }
        return try targets.map { node, texts in
            do { try GivenValue.validate(texts) } catch let error as ValidationError {
                throw CommandFailure(.usage, message: "\(node.shownName): \(error.message)")
            }
            return (node, try GivenValue.changes(texts, at: node) ?? [])
        }
    }

    /// Parses `Light.Power=on`: the first comparison counts.
    static func condition(
        _ text: String
    ) -> (path: String, comparison: AutomationCondition.Comparison, value: String)? {
        comparison(text).flatMap { GivenValue.isPath($0.name[...]) ? ($0.name, $0.comparison, $0.value) : nil }
    }

    private static func comparison(
        _ text: String
    ) -> (name: String, comparison: AutomationCondition.Comparison, value: String)? {
        guard let start = text.firstIndex(where: { "=!<>".contains($0) }) else { return nil }
        let rest = text[start...]
        let signs = ["==", "!=", "<=", ">=", "<", ">", "="]
        guard let sign = signs.first(where: { rest.hasPrefix($0) }) else { return nil }
        let name = text[..<start].trimmingBlanks
        let value = rest.dropFirst(sign.count).trimmingBlanks
        guard !name.isEmpty, !value.isEmpty,
            let comparison = AutomationCondition.Comparison(rawValue: sign == "=" ? "==" : sign)
        else { return nil }
        return (String(name), comparison, String(value))
    }

    /// Splits `Kitchen lamp:Light.Power=on` at the last colon before the =.
    private static func target(_ text: String) -> (node: String, change: String)? {
        guard let equals = text.firstIndex(of: "="), let colon = text[..<equals].lastIndex(of: ":") else { return nil }
        let change = String(text[text.index(after: colon)...])
        guard colon > text.startIndex, GivenValue.parts(change) != nil else { return nil }
        return (String(text[..<colon]), change)
    }
}

extension StringProtocol {
    fileprivate var trimmingBlanks: SubSequence {
        let start = firstIndex { $0 != " " } ?? endIndex
        guard let end = lastIndex(where: { $0 != " " }) else { return self[endIndex...] }
        return self[start...end]
    }
}
