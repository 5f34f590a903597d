// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import RainJSON
import RainKit

struct AutomationCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "automation", abstract: "What the cloud sets at boards when one of them reports something.",
        subcommands: [AutomationList.self, AutomationAdd.self, AutomationEdit.self, AutomationRemove.self])
}

struct AutomationList: CloudCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "List your automations, or those that a board sets off.",
        discussion: "Example: rainctl automation list")

    @Argument(help: "The board that sets them off; all unless it is named.")
    var node: String?

    @Option(help: .timeLimit)
    var timeout = DurationArgument(.seconds(30))

    @OptionGroup(title: "Everywhere") var options: GlobalOptions

    func result(_ scene: CloudScene) async throws -> AutomationListResult {
        let name = node
        return AutomationListResult(
            try await scene.time.run {
                var id: NodeID?
                if let name { id = try await scene.choice.node(name).id }
                return try await scene.cloud.automations(of: id)
            })
    }
}

struct AutomationAdd: CloudCommand {
    static let configuration = CommandConfiguration(
        commandName: "add", abstract: "Have something set at boards when one of them reports something.",
        discussion: """
            Example: rainctl automation add 'Door light' --when 'Door.Open=true' --of Door --set 'Kitchen lamp:Light.Power=on'

            A condition is DEVICE.PARAM and =, !=, <, >, <= or >= and a value; with several, all must hold, or one with --any. What else the \
            cloud knows (weather, daylight) is given as it takes it, with --file.
            """)

    @Argument(help: "What you call it.")
    var name: String

    @OptionGroup(title: "What it does") var rule: AutomationRule

    @Option(
        help: ArgumentHelp(
            "Read the whole rule from a JSON file: event_type, events, actions, node_id; - is standard input.",
            valueName: "file"), completion: .file())
    var file: String?

    @Option(help: .timeLimit)
    var timeout = DurationArgument(.seconds(30))

    @OptionGroup(title: "Everywhere") var options: GlobalOptions

    func validate() throws {
        guard (file != nil) != rule.isGiven else {
            throw ValidationError("Give a rule with --of, --when and --set, or a --file with it.")
        }
        try AutomationRule.check(name: name)
        if file == nil { try rule.checkWhole() }
    }

    func result(_ scene: CloudScene) async throws -> ActionResult {
        var given: JSONValue?
        if let file {
            given = try Payload.object(file: file, name: "rule", reason: "bad_rule", within: scene.time.left)
        }
        let (name, rule, document) = (name, rule, given)
        return try await scene.time.run {
            var members = [JSONValue.Member("name", .string(name))]
            if let document {
                let given = (document.members ?? []).filter { $0.name != "name" }
                members += try await AutomationCheck(choice: scene.choice).members(given)
            } else {
                members += try await rule.members(scene)
            }
            let id = try await scene.cloud.createAutomation(.object(members))
            return ActionResult("made: \(name.onOneLine), \(id.onOneLine)").with("automation_id", id).with("name", name)
        }
    }
}

struct AutomationEdit: CloudCommand {
    static let configuration = CommandConfiguration(
        commandName: "edit", abstract: "Change an automation, or switch it off and on.",
        discussion: "Example: rainctl automation edit 'Door light' --disable")

    @Argument(help: "The automation: its id, or its name.")
    var automation: String

    @Option(help: "What you call it from now on.")
    var name: String?

    @OptionGroup(title: "What it does") var rule: AutomationRule

    @Flag(help: "Have it act again.")
    var enable = false

    @Flag(help: "Keep it from acting.")
    var disable = false

    @Option(
        help: ArgumentHelp("Read members to change from a JSON file; - is standard input.", valueName: "file"),
        completion: .file())
    var file: String?

    @Option(help: .timeLimit)
    var timeout = DurationArgument(.seconds(30))

    @OptionGroup(title: "Everywhere") var options: GlobalOptions

    func validate() throws {
        if enable, disable { throw ValidationError("--enable and --disable exclude each other.") }
        guard name != nil || rule.isGiven || enable || disable || file != nil else {
            throw ValidationError("Say what is to change.")
        }
        if let name { try AutomationRule.check(name: name) }
        if rule.of == nil, !rule.when.isEmpty { throw ValidationError("--when needs --of, the board that reports it.") }
    }

    func result(_ scene: CloudScene) async throws -> ActionResult {
        var members: [JSONValue.Member] = []
        if let file {
            let rule = try Payload.object(file: file, name: "rule", reason: "bad_rule", within: scene.time.left)
            members = rule.members ?? []
        }
        if let name { members.append(.init("name", .string(name))) }
        if enable || disable { members.append(.init("enabled", .bool(enable))) }
        let (wanted, rule, given) = (automation, rule, members)
        return try await scene.time.run {
            let automation = try await AutomationChoice(cloud: scene.cloud).automation(wanted)
            let named = try await rule.members(scene, changing: automation)
            // What the command line says goes before the file.
            let rest = given.filter { member in !named.contains { $0.name == member.name } }
            var reporter: Node?
            if let of = rule.of { reporter = try await scene.choice.node(of) }
            let check = AutomationCheck(choice: scene.choice)
            let changes = try await check.members(rest, of: automation, reportedBy: reporter) + named
            try await scene.cloud.changeAutomation(automation.id, .object(changes))
            return ActionResult("changed: \(automation.name.onOneLine)").with("automation_id", automation.id)
                .with("changed", true)
        }
    }
}

struct AutomationRemove: CloudCommand {
    static let configuration = CommandConfiguration(
        commandName: "remove", abstract: "Remove an automation.",
        discussion: "Example: rainctl automation remove 'Door light'")

    @Argument(help: "The automation: its id, or its name.")
    var automation: String

    @Option(help: .timeLimit)
    var timeout = DurationArgument(.seconds(30))

    @OptionGroup(title: "Everywhere") var options: GlobalOptions

    func result(_ scene: CloudScene) async throws -> ActionResult {
        let wanted = automation
        return try await scene.time.run {
            let automation = try await AutomationChoice(cloud: scene.cloud).automation(wanted)
            try await scene.cloud.removeAutomation(automation.id)
            return ActionResult("removed: \(automation.name.onOneLine)").with("automation_id", automation.id)
                .with("removed", true)
        }
    }
}

/// Automations, as the cloud keeps them.
struct AutomationListResult: CommandResult {
    let automations: [JSONValue]
    private let lines: [String]

    private enum CodingKeys: CodingKey { case automations }

    init(_ all: [Automation]) {
        automations = all.map(\.document)
        lines = all.map { automation in
            let document = automation.document
            let events = (document["events"]?.array ?? []).flatMap { event in
                ([ParameterChange](event["params"] ?? .null) ?? []).map {
                    "\($0.path) \(event["check"]?.string ?? "==") \($0.value.shown)"
                }
            }
            let actions = (document["actions"]?.array ?? []).flatMap { action in
                ([ParameterChange](action["params"] ?? .null) ?? []).map {
                    "\(action["node_id"]?.string ?? "?"): \($0.path)=\($0.value.shown)"
                }
            }
            let joint = document["event_operator"]?.string == "or" ? " or " : " and "
            let start = document["node_id"]?.string.map { "\($0): " } ?? ""
            let when = events.isEmpty ? document["event_type"]?.string ?? "?" : start + events.joined(separator: joint)
            return
                "\(automation.id)  \(automation.isEnabled ? "on " : "off")  \(automation.name)  \(when)  ->  \(actions.joined(separator: "; "))"
                .onOneLine
        }
    }

    var text: String { lines.isEmpty ? "There are no automations." : lines.joined(separator: "\n") }
}
