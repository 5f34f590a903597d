// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import RainCore
import RainKit
import RainMaker

struct AccountUpdate: AsyncParsableCommand {
    enum Switch: String, WordArgument { case on, off }

    static let configuration = CommandConfiguration.leaf(
        commandName: "update", abstract: "Change your name, telephone number, tags or language in the cloud.",
        discussion: """
            Example: rainctl account update --name "Ada" --add-tag team:lab

            If you set a new telephone number, the cloud sends a code to it, and rainctl asks for the code. A script sends the code in a \
            second run: rainctl account update --confirm-phone --code-stdin.
            """)

    @Option(help: ArgumentHelp("Set your name.", valueName: "name"))
    var name: String?

    @Option(help: ArgumentHelp("Set your telephone number, with + and the country code.", valueName: "number"))
    var phone: String?

    @Flag(help: "Confirm the new telephone number with the code that the cloud sent.")
    var confirmPhone = false

    @OptionGroup var code: CodeOptions

    @Option(help: ArgumentHelp("Mark the account with this tag (repeatable).", valueName: "key:value"))
    var addTag: [String] = []

    @Option(help: ArgumentHelp("Remove this tag (repeatable).", valueName: "key:value"))
    var removeTag: [String] = []

    @Option(
        help: ArgumentHelp("Set the language in which the cloud writes to you, such as en-us.", valueName: "locale"))
    var locale: String?

    @Option(
        help:
            "Choose whether each sign-in needs a one-time code after the password. Some deployments do not support this."
    )
    var secondStep: Switch?

    @Option(help: .timeLimit)
    var timeout = DurationArgument(.seconds(60))

    @OptionGroup(title: "Everywhere") var options: GlobalOptions

    func validate() throws {
        if changes.isEmpty, !confirmPhone { throw ValidationError("Give at least one value to change.") }
        if code.isGiven, !confirmPhone, phone == nil {
            throw ValidationError("The code confirms the telephone number: give --confirm-phone too.")
        }
    }

    func run() async throws {
        let context = try Context(options)
        let time = TimeBudget(timeout)
        let account = try context.client().account()
        let rainMaker = try account.rainMakerAccount(for: "changes of accounts")
        let changes = changes
        // Fails before it asks for a code if nobody is signed in.
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

/// The changed user data. A new telephone number may wait for its code.
struct AccountUpdateResult: ConfirmingResult {
    enum Phone: Sendable {
        case unchanged, confirmed
        case codeSent(to: String)
    }

    let profile: String
    let userName: String
    let phoneConfirmed: Bool?
    let next: String?
    @TextOnly private var place: String

    init(profile: String, userName: String, phone: Phone) {
        (self.profile, self.userName) = (profile, userName)
        switch phone {
        case .unchanged: (phoneConfirmed, next, place) = (nil, nil, "")
        case .confirmed: (phoneConfirmed, next, place) = (true, nil, "")
        case .codeSent(let place):
            (phoneConfirmed, next, self.place) = (
                false, commandLine("account update --confirm-phone --code-stdin"), place
            )
        }
    }

    var text: String {
        guard let next else { return "Updated." }
        return "Updated. A code was sent to \(place.onOneLine). To confirm the number, run: \(next)"
    }
}
