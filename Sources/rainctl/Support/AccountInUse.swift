// SPDX-License-Identifier: Apache-2.0
import RainKit

/// The account that commands use at one deployment or provider while no option, variable or file names one.
struct AccountInUse: Sendable {
    let context: Context
    /// The name of the deployment or provider.
    let place: String
    /// The account before the change; nil if nobody was signed in.
    let before: String?

    /// - Parameter place: the name of the deployment or provider.
    init(_ context: Context, at place: String) {
        self.context = context
        self.place = place
        before = Self.current(context, at: place)
    }

    /// The account that commands use now, if it is another one than before. Nil if commands use none, or one that a variable or file names.
    var another: String? {
        guard ProfileSettings.namedAccount(context)?.origin.place == nil,
            let now = Self.current(context, at: place), let before, now != before
        else { return nil }
        return now
    }

    /// Reports another account to the user, who has ended the session of the earlier one.
    func tell() {
        guard let another else { return }
        context.output.say(
            "note: Commands now use the account \(another.onOneLine). To sign out there too, run: \(commandLine("logout"))"
        )
    }

    /// The list is only read for a note, so a list that cannot be read counts as empty. The commands that need it report that.
    private static func current(_ context: Context, at place: String) -> String? {
        (try? context.accounts.known.load())?.current(at: place)?.name
    }
}
