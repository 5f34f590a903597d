// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import RainJSON
import RainKit
import RainMaker

struct AutomationCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "automation",
        abstract:
            "Manage automations: rules by which the cloud sets values of boards.",
        subcommands: [AutomationList.self, AutomationAdd.self, AutomationEdit.self, AutomationRemove.self])
}

struct AutomationList: CloudCommand, ListCommand {
    static let configuration = CommandConfiguration.leaf(
        commandName: "list", abstract: "List all your automations, or only those that one board triggers.",
        discussion: "Example: rainctl automation list")

    @Argument(help: "List only automations that this board triggers (default: all).")
    var node: String?

    @Option(help: .timeLimit)
    var timeout = DurationArgument(.seconds(30))

    @Option(help: .listForm) var format = ListForm.text

    @OptionGroup(title: "Everywhere") var options: GlobalOptions

    func result(_ scene: CloudScene) async throws -> AutomationListResult {
        let name = node
        let all = try await scene.time.run {
            var node: Node?
            if let name { node = try await scene.client.node(named: name) }
            return try await scene.client.automations(of: node)
        }
        return AutomationListResult(all, names: scene.boardNames)
    }
}

struct AutomationAdd: CloudCommand {
    static let configuration = CommandConfiguration.leaf(
        commandName: "add",
        abstract:
            "Add an automation: a rule by which the cloud sets values of boards.",
        discussion: """
            Example: rainctl automation add 'Door light' --when 'Door.Open=true' \\
                         --of Door --set 'Kitchen lamp:Light.Power=on'
                     rainctl automation add Evening --daylight sunset \\
                         --location 59.91,10.75 --set 'Kitchen lamp:Light.Power=on'

            A rule has one cause: a board's report (--of and --when), the weather (--weather), or the sun (--daylight). A condition is \
            DEVICE.PARAM, then =, !=, <, >, <= or >=, then a value. If you give several conditions, all must be true. With --any, one is \
            enough. For other rules, write the rule in the JSON of RainMaker's API, and give the file with --file.
            """)

    @Argument(help: "The automation's name.")
    var name: String

    @OptionGroup(title: "Rule") var rule: RuleOptions

    @Option(
        help: ArgumentHelp(
            "Read the whole rule (event_type, events, actions, node_id) from a JSON file (- for standard input).",
            valueName: "file"), completion: .file())
    var file: String?

    @Option(help: .timeLimit)
    var timeout = DurationArgument(.seconds(30))

    @OptionGroup(title: "Everywhere") var options: GlobalOptions

    func validate() throws {
        guard (file != nil) != rule.isGiven else {
            throw ValidationError(
                file == nil
                    ? "Give the rule in one of these ways: --of, --when and --set; --weather and --set; --daylight and --set; or --file."
                    : "Give the rule with --file or with the other options, but not with both.")
        }
        try RuleOptions.check(name: name)
        if file == nil { try rule.checkWhole() }
    }

    func result(_ scene: CloudScene) async throws -> ActionResult {
        var given: JSONValue?
        if let file {
            let rule = try Payload.object(file: file, name: "rule", reason: "bad_rule", within: scene.time.left)
            try RuleOptions.checkWhole(rule, in: Payload.subject(file))
            given = rule
        }
        let (name, rule, document) = (name, rule, given)
        return try await scene.time.run {
            let rule = try await rule.rule(scene.client, document: document)
            try await scene.warn(automationName: name)
            let id = try await scene.client.createAutomation(name, rule)
            return ActionResult("Created automation \(name.onOneLine) (\(id.onOneLine))").with("automation_id", id)
                .with("name", name)
        }
    }
}

struct AutomationEdit: CloudCommand {
    static let configuration = CommandConfiguration.leaf(
        commandName: "edit", abstract: "Change, enable or disable an automation.",
        discussion: "Example: rainctl automation edit 'Door light' --disable")

    @Argument(help: "The automation: its id or name.")
    var automation: String

    @Option(help: "The automation's new name.")
    var name: String?

    @OptionGroup(title: "Rule") var rule: RuleOptions

    @Flag(help: "Enable the automation.")
    var enable = false

    @Flag(help: "Disable the automation without removing it.")
    var disable = false

    @Option(
        help: ArgumentHelp(
            "Replace members of the rule with those in this JSON file (- for standard input).", valueName: "file"),
        completion: .file())
    var file: String?

    @Option(help: .timeLimit)
    var timeout = DurationArgument(.seconds(30))

    @OptionGroup(title: "Everywhere") var options: GlobalOptions

    func validate() throws {
        if enable, disable { throw ValidationError("Give --enable or --disable, but not both.") }
        guard name != nil || rule.isGiven || enable || disable || file != nil else {
            throw ValidationError("Give a new name, a rule, --enable or --disable.")
        }
        if let name { try RuleOptions.check(name: name) }
        if rule.of == nil, !rule.when.isEmpty {
            throw ValidationError("--when needs --of: the board that reports the value.")
        }
    }

    func result(_ scene: CloudScene) async throws -> ActionResult {
        var given: JSONValue?
        if let file {
            given = try Payload.object(file: file, name: "rule", reason: "bad_rule", within: scene.time.left)
        }
        let (wanted, name, rule, document) = (automation, name, rule, given)
        let isEnabled: Bool? = enable || disable ? enable : nil
        return try await scene.time.run {
            let automation = try await scene.client.automation(named: wanted)
            let rule = try await rule.rule(scene.client, document: document)
            if let name { try await scene.warn(automationName: name, own: automation.id) }
            try await scene.client.changeAutomation(automation, name: name, isEnabled: isEnabled, rule: rule)
            return ActionResult("Changed automation \((name ?? automation.name).onOneLine)").with(
                "automation_id", automation.id
            )
            .with("changed", true)
        }
    }
}

struct AutomationRemove: CloudCommand {
    static let configuration = CommandConfiguration.leaf(
        commandName: "remove", abstract: "Remove an automation.",
        discussion: "Example: rainctl automation remove 'Door light'")

    @Argument(help: "The automation: its id or name.")
    var automation: String

    @Option(help: .timeLimit)
    var timeout = DurationArgument(.seconds(30))

    @OptionGroup(title: "Everywhere") var options: GlobalOptions

    func result(_ scene: CloudScene) async throws -> ActionResult {
        let wanted = automation
        return try await scene.time.run {
            let automation = try await scene.client.automation(named: wanted)
            try await scene.client.removeAutomation(automation)
            return ActionResult("Removed automation \(automation.name.onOneLine)").with("automation_id", automation.id)
                .with("removed", true)
        }
    }
}

/// Automations, as the cloud keeps them.
struct AutomationListResult: CommandResult {
    let automations: [JSONValue]
    /// For a terminal, with the boards' names.
    @TextOnly private(set) var lines: [Line]
    /// For a pipe, with the boards' ids.
    @TextOnly private var linesWithIDs: [Line]

    /// What a person reads of an automation.
    struct Line: Sendable {
        let id: String
        let name: String
        let isEnabled: Bool
        let when: String
        let actions: String

        /// - Parameter names: the boards' names.
        fileprivate init(_ automation: Automation, _ names: ShownNames) {
            let document = automation.document
            let events = (document["events"]?.array ?? []).flatMap { event -> [String] in
                let check = event["check"]?.string ?? "=="
                guard document["event_type"] == "weather" || document["event_type"] == "daylight" else {
                    return ([ParameterChange](event["params"] ?? .null) ?? []).map {
                        "\($0.path) \(check) \($0.value.shown)"
                    }
                }
                return (event["params"]?.members ?? []).map {
                    $0.value == true ? $0.name : "\($0.name) \(check) \($0.value.shown)"
                }
            }
            let actions = (document["actions"]?.array ?? []).flatMap { action in
                ([ParameterChange](action["params"] ?? .null) ?? []).map {
                    "\(action["node_id"]?.string.map { names[$0] } ?? "?"): \($0.path)=\($0.value.shown)"
                }
            }
            let joint = document["event_operator"]?.string == "or" ? " or " : " and "
            let place = document["location"].flatMap { place -> String? in
                guard let latitude = place["latitude"]?.shown, let longitude = place["longitude"]?.shown else {
                    return nil
                }
                return "\(latitude),\(longitude): "
            }
            let start = document["node_id"]?.string.map { "\(names[$0]): " } ?? place ?? ""
            id = automation.id
            name = automation.name
            isEnabled = automation.isEnabled
            when = events.isEmpty ? document["event_type"]?.string ?? "?" : start + events.joined(separator: joint)
            self.actions = actions.joined(separator: "; ")
        }

        fileprivate var text: String {
            "\(id)  \(isEnabled ? "on " : "off")  \(name)  \(when)  ->  \(actions)".onOneLine
        }
    }

    /// - Parameter names: the boards' names, for people.
    init(_ all: [Automation], names: ShownNames = ShownNames()) {
        automations = all.map { automation in
            // The cloud leaves the member out for an automation that was never disabled.
            guard automation.document["enabled"] == nil, let members = automation.document.members else {
                return automation.document
            }
            return .object(members + [JSONValue.Member("enabled", .bool(automation.isEnabled))])
        }
        lines = all.map { Line($0, names) }
        linesWithIDs = all.map { Line($0, ShownNames()) }
    }

    var text: String {
        lines.isEmpty ? "There are no automations." : linesWithIDs.map(\.text).joined(separator: "\n")
    }
}

extension AutomationListResult: ListResult {
    var table: ListTable {
        ListTable(
            member: "automations",
            columns: ["automation_id", "name", "enabled", "node_id", "event_type", "events", "actions"])
    }
}
