// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import RainJSON
import RainKit
import RainMaker

struct Whoami: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "whoami", abstract: "Show the signed-in user, as the cloud knows them now.",
        discussion: "Example: rainctl whoami --json")

    @Option(help: .timeLimit)
    var timeout = DurationArgument(.seconds(60))

    @Flag(help: "Show the user as stored at the sign-in, without asking the cloud.")
    var offline = false

    @OptionGroup var which: ProviderOption

    @OptionGroup(title: "Everywhere") var options: GlobalOptions

    func run() async throws {
        let context = try Context(options)
        let account = try context.client(which).account()
        context.output.result(try await result(account))
    }

    private func result(_ account: AccountAccess) async throws -> WhoamiResult {
        if offline { return WhoamiResult(try await account.session.storedUser(), at: account.name) }
        if let user = account.rainMaker {
            return WhoamiResult(try await withTimeout(timeout.duration) { try await user.user() }, at: account.name)
        }
        let user = try await withTimeout(timeout.duration) { try await account.session.user() }
        return WhoamiResult(user, at: account.name)
    }
}

/// The signed-in user. Missing values appear in neither form.
struct WhoamiResult: CommandResult {
    private var values = LabelledValues()

    var text: String { values.text }

    func encode(to encoder: any Encoder) throws { try values.encode(to: encoder) }

    /// A user of any provider, with everything that the provider reports about them.
    init(_ user: UserInfo, at profile: String) {
        addCommon(user, profile)
        if let isOne = user.attributes.first(where: { $0.name == "is_admin" })?.value.bool {
            values.add("is_admin", isOne, line: "administrator: \(isOne ? "yes" : "no")")
        }
        if !user.attributes.isEmpty { values.add(memberOnly: "attributes", JSONValue.object(user.attributes)) }
    }

    init(_ user: RainMakerUser, at profile: String) {
        addCommon(user.common, profile)
        values.add("picture_url", label: "picture", user.pictureURL)
        if let isOn = user.common.usesSecondFactor {
            values.add("second_step", isOn, line: "two-step sign-in: \(isOn ? "on" : "off")")
        }
        if user.isSuperAdministrator || user.isAdministrator {
            values.add("administrator", user.isSuperAdministrator ? "super" : "plain")
        }
        values.add("roles", user.roles)
        values.add("tags", user.tags)
        values.add("administrator_tags", user.administratorTags)
        if let quota = user.quota {
            values.add("quota", quota, line: "quota: \(quota.compact.onOneLine)")
        }
        if user.isGuest {
            let end = user.guestExpires.map(Timestamp.text)
            values.add("guest", true, line: "guest\(end.map { " until \($0)" } ?? "")")
            if let end { values.add(memberOnly: "guest_expires_at", end) }
        }
    }

    private mutating func addCommon(_ user: UserInfo, _ profile: String) {
        values.add(memberOnly: "profile", profile)
        values.add("user_name", user.userName, line: user.userName.onOneLine)
        values.add("user_id", user.userID.rawValue)
        values.add(line: "profile: \(profile)")
        values.add("name", user.name)
        values.add("email", label: "e-mail", user.email)
        values.add("phone_number", label: "telephone", user.phoneNumber)
        values.add("locale", user.locale)
    }
}
