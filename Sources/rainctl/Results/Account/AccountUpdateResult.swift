// SPDX-License-Identifier: Apache-2.0

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
