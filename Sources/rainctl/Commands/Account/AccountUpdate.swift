// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import RainCore
import RainKit

struct AccountUpdate: AsyncParsableCommand {
    enum Switch: String, ExpressibleByArgument, CaseIterable { case on, off }

    static let configuration = CommandConfiguration(
        commandName: "update", abstract: "Change what the cloud knows of you.",
        discussion: """
            Example: rainctl account update --name "Ada" --add-tag team:lab

            A new telephone number is confirmed with the code that is sent to it: at once where you can be asked, else by \
            --confirm-phone --code-stdin.
            """)

    @Option(help: ArgumentHelp("Your name.", valueName: "name"))
    var name: String?

    @Option(help: ArgumentHelp("Your telephone number, with + and country code.", valueName: "number"))
    var phone: String?

    @Flag(help: "Confirm the telephone number with the code that was sent to it.")
    var confirmPhone = false

    @OptionGroup var code: CodeOptions

    @Option(help: ArgumentHelp("Mark the account with this tag (repeatable).", valueName: "key:value"))
    var addTag: [String] = []

    @Option(help: ArgumentHelp("Take this tag away (repeatable).", valueName: "key:value"))
    var removeTag: [String] = []

    @Option(help: ArgumentHelp("The language the cloud writes to you in, such as en-us.", valueName: "locale"))
    var locale: String?

    @Option(help: "Whether signing in takes a one-time code after the password (some deployments decide that).")
    var secondStep: Switch?

    @Option(help: .timeLimit)
    var timeout = DurationArgument(.seconds(60))

    @OptionGroup(title: "Everywhere") var options: GlobalOptions

    func validate() throws {
        if changes.isEmpty, !confirmPhone { throw ValidationError("Nothing to change was given.") }
        if code.isGiven, !confirmPhone, phone == nil {
            throw ValidationError("The code belongs to --confirm-phone.")
        }
    }

    func run() async throws {
        let context = try Context(options)
        let time = TimeBudget(timeout)
        let account = try context.client().account()
        let rainMaker = try account.rainMakerAccount()
        let changes = changes
        // Fails before a code is asked for, where no one is signed in.
        let user = try await account.session.userName()
        if !changes.isEmpty {
            try await time.run { try await rainMaker.update(changes) }
        }
        var confirmation = AccountUpdateResult.Phone.unchanged
        if confirmPhone || phone != nil {
            let place = phone ?? "your telephone"
            if let entered = try code.read(sentTo: place, within: time, context) {
                try await code.entering(entered, sentTo: place, within: time, context) {
                    try await rainMaker.update([.phoneCode($0)])
                }
                confirmation = .confirmed
            } else if confirmPhone {
                _ = try code.required(sentTo: place, within: time, context)
            } else {
                confirmation = .codeSent(to: place)
            }
        }
        context.output.result(
            AccountUpdateResult(profile: account.name, userName: user, phone: confirmation))
    }

    /// The telephone number comes last, because its code is asked for next.
    private var changes: [RainMakerAccount.Change] {
        var changes: [RainMakerAccount.Change] = []
        if let name { changes.append(.name(name)) }
        if let locale { changes.append(.locale(locale)) }
        if let secondStep { changes.append(.secondStep(secondStep == .on)) }
        if !removeTag.isEmpty { changes.append(.removeTags(removeTag)) }
        if !addTag.isEmpty { changes.append(.addTags(addTag)) }
        if let phone { changes.append(.phoneNumber(phone)) }
        return changes
    }
}

/// The cloud knows something else of the user now; a new telephone number may wait for its code.
struct AccountUpdateResult: CommandResult {
    enum Phone: Sendable {
        case unchanged, confirmed
        case codeSent(to: String)
    }

    let profile: String
    let userName: String
    let phoneConfirmed: Bool?
    let next: String?
    private let place: String

    private enum CodingKeys: String, CodingKey {
        case profile
        case userName = "user_name"
        case phoneConfirmed = "phone_confirmed"
        case next
    }

    init(profile: String, userName: String, phone: Phone) {
        (self.profile, self.userName) = (profile, userName)
        switch phone {
        case .unchanged: (phoneConfirmed, next, place) = (nil, nil, "")
        case .confirmed: (phoneConfirmed, next, place) = (true, nil, "")
        case .codeSent(let place):
            (phoneConfirmed, next, self.place) = (false, "rainctl account update --confirm-phone --code-stdin", place)
        }
    }

    var text: String {
        guard let next else { return "Updated." }
        return "Updated. A code was sent to \(place.onOneLine). Confirm the number with it: \(next)"
    }
}
