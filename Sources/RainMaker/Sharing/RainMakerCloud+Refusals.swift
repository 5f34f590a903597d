// SPDX-License-Identifier: Apache-2.0
import RainAccount
import RainJSON

/// The cloud uses some of its numbers for several things, and the general words for them speak of sign-in and mapping. These are the words
/// where groups, and what users share, are meant.
extension RainMakerCloud {
    typealias RefusalWords = [Int: RainMakerErrorCode.Meaning]

    /// A call with words of its own for some numbers.
    @discardableResult
    func call(_ call: RainMakerCall, words: RefusalWords) async throws(AccountError) -> JSONValue {
        do throws(AccountError) {
            return try await self.call(call)
        } catch {
            var error = error
            if let meaning = error.serverCode.flatMap({ words[$0] }) {
                (error.code, error.message) = (meaning.code, meaning.sentence)
            }
            throw error
        }
    }

    /// Of a call that changes or shows one group.
    static var groupWords: RefusalWords {
        [
            100_012: .init(code: .rejected, sentence: "the cloud does not take this as valid for the group"),
            103_055: .init(
                code: .rejected, sentence: "the cloud finds the group, or a node, not associated with the user"),
        ]
    }

    /// Of an offer to another user.
    static func offerWords(_ kind: SharedKind, to userName: String) -> RefusalWords {
        var words: RefusalWords = [
            100_012: .init(code: .rejected, sentence: "the cloud does not take this offer to the other user as valid"),
            101_025: nobody(userName),
        ]
        // Of nodes the general words speak.
        if kind == .groups { words[103_055] = groupWords[103_055] }
        return words
    }

    /// Of the end of what is shared.
    static func endWords(_ kind: SharedKind, with userName: String) -> RefusalWords {
        [
            100_012: .init(
                code: .rejected, sentence: "the cloud does not take this end of what is shared as valid"),
            101_025: nobody(userName),
            103_055: .init(
                code: kind == .nodes ? .unknownNode : .rejected,
                sentence: "the cloud finds nothing of this shared with \(presentable(userName))"),
        ]
    }

    /// Of a sharing request that is answered or taken back.
    static var requestWords: RefusalWords {
        var words: RefusalWords = [
            100_012: .init(
                code: .rejected,
                sentence:
                    "the cloud finds no open sharing request with this id; list the requests to see the open ones")
        ]
        for number in 103_016...103_018 {
            words[number] = .init(code: .rejected, sentence: "the cloud could not look the sharing request up")
        }
        return words
    }

    private static func nobody(_ userName: String) -> RainMakerErrorCode.Meaning {
        .init(
            code: .unknownUser,
            sentence: "nobody has the user name \(presentable(userName)) at this deployment; check how it is spelt")
    }
}
