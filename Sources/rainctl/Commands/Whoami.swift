import ArgumentParser
import JSON
import RainKit

struct Whoami: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "whoami", abstract: "Say who is signed in, as the cloud has it now.",
        discussion: "Example: rainctl whoami --json")

    @Option(help: ArgumentHelp("The time for everything: 6, 6s, 500ms, 2m.", valueName: "time"))
    var timeout = DurationArgument(.seconds(60))

    @OptionGroup(title: "Everywhere") var options: GlobalOptions

    func run() async throws {
        let context = try Context(options)
        let account = try context.account()
        let profile = try await withTimeout(timeout.duration) { try await account.user.profile() }
        var report = ProfileReport(profile: account.deployment.name)
        report.add(profile)
        context.output.result(report.members, text: report.lines.joined(separator: "\n"))
    }
}

/// A user's profile as JSON members and as lines, which never differ. What is not set is in neither.
private struct ProfileReport {
    private(set) var members: [JSONValue.Member]
    private(set) var lines: [String] = []
    private let deployment: String

    init(profile deployment: String) {
        self.deployment = deployment
        members = [.init("profile", .string(deployment))]
    }

    mutating func add(_ profile: RainMakerProfile) {
        members.append(.init("user_name", .string(profile.userName)))
        lines.append(profile.userName.onOneLine)
        add("user_id", "user id", profile.userID.rawValue)
        lines.append("profile: \(deployment)")
        add("name", "name", profile.common.name)
        add("email", "e-mail", profile.common.email)
        add("phone_number", "telephone", profile.common.phoneNumber)
        add("locale", "locale", profile.common.locale)
        add("picture_url", "picture", profile.pictureURL)
        if let isOn = profile.common.usesSecondFactor {
            members.append(.init("second_step", .bool(isOn)))
            lines.append("second step: \(isOn ? "on" : "off")")
        }
        if profile.isSuperAdministrator || profile.isAdministrator {
            add("administrator", "administrator", profile.isSuperAdministrator ? "super" : "plain")
        }
        add("roles", profile.roles)
        add("tags", profile.tags)
        add("administrator_tags", profile.administratorTags)
        if let quota = profile.quota {
            members.append(.init("quota", quota))
            lines.append("quota: \(String(decoding: quota.serialized(), as: UTF8.self).onOneLine)")
        }
        if profile.isGuest {
            members.append(.init("guest", true))
            let end = profile.guestExpires.map(Timestamp.text)
            if let end { members.append(.init("guest_expires_at", .string(end))) }
            lines.append("guest\(end.map { " until \($0)" } ?? "")")
        }
    }

    private mutating func add(_ key: String, _ label: String, _ text: String?) {
        guard let text else { return }
        members.append(.init(key, .string(text)))
        lines.append("\(label): \(text.onOneLine)")
    }

    private mutating func add(_ key: String, _ texts: [String]) {
        guard !texts.isEmpty else { return }
        members.append(.init(key, .array(texts.map { .string($0) })))
        lines.append("\(key.replacing("_", with: " ")): \(texts.joined(separator: ", ").onOneLine)")
    }
}
