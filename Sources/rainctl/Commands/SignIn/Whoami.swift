import ArgumentParser
import RainJSON
import RainKit

struct Whoami: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "whoami", abstract: "Say who is signed in, as the cloud has it now.",
        discussion: "Example: rainctl whoami --json")

    @Option(help: .timeLimit)
    var timeout = DurationArgument(.seconds(60))

    @Flag(help: "As it was at sign-in, from what is stored: nothing is sent.")
    var offline = false

    @OptionGroup var which: ProviderOption

    @OptionGroup(title: "Everywhere") var options: GlobalOptions

    func run() async throws {
        let context = try Context(options)
        let account = try context.session(which)
        var report = ProfileReport(profile: account.name)
        if offline {
            report.add(try await account.session.storedUser())
        } else if let user = account.rainMaker {
            report.add(try await withTimeout(timeout.duration) { try await user.user() })
        } else {
            report.add(try await withTimeout(timeout.duration) { try await account.session.user() })
        }
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

    /// A user of any provider, with everything that it says about them.
    mutating func add(_ profile: UserInfo) {
        members.append(.init("user_name", .string(profile.userName)))
        lines.append(profile.userName.onOneLine)
        add("user_id", "user id", profile.userID.rawValue)
        lines.append("profile: \(deployment)")
        add("name", "name", profile.name)
        add("email", "e-mail", profile.email)
        add("phone_number", "telephone", profile.phoneNumber)
        add("locale", "locale", profile.locale)
        if !profile.attributes.isEmpty { members.append(.init("attributes", .object(profile.attributes))) }
    }

    mutating func add(_ profile: RainMakerUser) {
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
