// SPDX-License-Identifier: Apache-2.0
import RainAccount

/// The meanings of the RainMaker cloud's error numbers (`error_code`), from its interface description 3.8.0 and the official apps.
enum RainMakerErrorCode {
    struct Meaning {
        var code: AccountError.Code
        /// A fragment that says what happened, and what to try if something can help.
        var sentence: String
    }

    /// Returns the meaning of a number, or nil if it is not documented; the caller then gets the number unchanged. Also nil for numbers
    /// that are only listed (103014, 103015, 103019, 105042, 105043, 107038). The same goes for 131001 to 131115, a range for commands. No
    /// public source gives their meaning.
    /// - Parameter status: the HTTP status of the answer, for numbers that the cloud uses twice.
    static func meaning(of number: Int, status: Int) -> Meaning? {
        guard let (code, sentence) = entry(number, status) else { return nil }
        return Meaning(code: code, sentence: sentence)
    }

    private typealias Entry = (AccountError.Code, String)

    private static func entry(_ number: Int, _ status: Int) -> Entry? {
        switch number {
        // With status 400 this number means an invalid tag.
        case 101_067 where status >= 500: (.serverFault, "the cloud could not end the session; try again later")
        case 403, 100_000..<101_000: general(number)
        case 101_000..<102_000: account(number)
        case 119_000..<119_018: deletion(number)
        case 112_048: (.invalidLocale, "the cloud does not know this locale; a locale looks like en or en-us")
        default: node(number)
        }
    }

    private static func general(_ number: Int) -> Entry? {
        switch number {
        case 403, 100_004: (.forbidden, "the signed-in user may not do this")
        case 100_001: (.serverFault, "the cloud could not look the user up; try again later")
        case 100_002: (.unsupported, "the deployment does not support version 1 of the interface; check its base URL")
        case 100_003: (.unsupported, "the deployment does not support this request; check its base URL")
        case 100_006: (.rejected, "the cloud could not read the request")
        case 100_007: (.rejected, "the cloud found no user in the request; sign in again")
        case 100_008: (.serverFault, "the cloud has an internal fault; try again later")
        case 100_009: (.rejected, "the cloud found no node in the request")
        case 100_010: (.unknownNode, "the node belongs to another user, who must remove or share it first")
        case 100_012: (.rejected, "the cloud considers the request invalid")
        case 100_015:
            (.unknownNode, "the cloud does not know this node; check that the node was claimed for this deployment")
        case 100_021, 100_023: (.rejected, "the cloud considers a parameter of the request invalid")
        case 100_036: (.invalidInput, "the custom data is too large; the cloud keeps at most 399 KB")
        case 100_046: (.expired, "the cloud found no access token; sign in again")
        case 100_047: (.expired, "another program or device ended the session; sign in again")
        case 100_052: (.unsupported, "this deployment signs in by browser only, not by user name and password")
        case 100_068: (.codeExpired, "the code is no longer valid; ask for a new one")
        case 100_070: (.rateLimited, "the cloud received too many requests; try again in a few minutes")
        default: nil
        }
    }

    private static func account(_ number: Int) -> Entry? {
        switch number {
        case 101_001: (.invalidUserName, "the user name is missing")
        case 101_002: (.invalidUserName, "the user name is not a valid e-mail address")
        case 101_003: (.invalidInput, "the password or the code is missing")
        case 101_004: (.weakPassword, RainMakerInput.passwordRule)
        case 101_005: (.serverFault, "the cloud could not send the code; try again later")
        case 101_006: (.accountExists, "an account with this user name already exists; sign in, or reset its password")
        case 101_007: (.invalidCredentials, "the current password is wrong")
        case 101_008: (.serverFault, "the cloud could not create the account; try again later")
        case 101_009: (.invalidCredentials, "user name or password is wrong")
        case 101_011: (.alreadyVerified, "the account is already verified; sign in")
        case 101_012: (.wrongCode, "the code is wrong or has expired; enter the latest one")
        case 101_013: (.serverFault, "the cloud could not confirm the account; try again later")
        case 101_015: (.unverifiedUser, "the account is not verified yet; enter the code that was sent to it")
        case 101_016: (.signInFailed, "the sign-in failed; try again")
        case 101_017: (.expired, "the session has ended; sign in again")
        case 101_018: (.invalidInput, "the new password is missing")
        case 101_019: (.rateLimited, "too many attempts; wait a few minutes before the next one")
        case 101_020: (.rejected, "the cloud did not change the password")
        case 101_025: (.unknownUser, "there is no such user; check the user name and the profile")
        case 101_026: (.rejected, "the cloud did not find the user's id")
        case 101_027: (.rejected, "the cloud did not accept the picture or the name")
        case 101_028: (.rejected, "the cloud did not update the user")
        case 101_029: (.rejected, "the cloud did not return the user's tokens")
        case 101_030: (.invalidInput, "the code is missing")
        case 101_031: (.rejected, "the cloud did not start the password reset")
        case 101_032: (.invalidInput, "the password is missing")
        case 101_036: (.rejected, "the cloud did not understand which sessions to end")
        case 101_037: (.invalidPhoneNumber, RainMakerInput.phoneNumberRule)
        case 101_039: (.challengeExpired, "the sign-in no longer waits for this code; start again")
        case 101_044: (.expired, "the account has moved; sign in again")
        case 101_045: (.invalidInput, "the request contains nothing to update")
        case 101_046: (.unsupported, "the account is of an old kind that cannot be updated")
        case 101_047: (.unverifiedPhoneNumber, "the account has no telephone number; add one first")
        case 101_048:
            (.unverifiedPhoneNumber, "the telephone number is not confirmed; enter the code that was sent to it")
        case 101_049...101_050: (.rejected, "the cloud did not confirm the telephone number")
        case 101_051: (.alreadyVerified, "the telephone number is already confirmed")
        case 101_052: (.wrongCode, "the telephone number's code is wrong or has expired; enter the latest one")
        case 101_053: (.invalidName, RainMakerInput.nameRule)
        case 101_055: (.serverFault, "the telephone number could not be confirmed; try again")
        case 101_056: (.phoneNumberInUse, "the telephone number belongs to another account")
        case 101_057: (.limitReached, "a limit of the cloud has been reached; try again later")
        case 101_058: (.passwordResetRequired, "the password must be reset before signing in")
        case 101_066: (.rejected, "the cloud did not understand what to do with the tags")
        case 101_067: (.invalidTag, RainMakerInput.tagRule)
        case 101_087: (.notForGuests, "a guest cannot do this; turn the guest into an account first")
        case 101_097: (.invalidUserName, "a guest can become an account only with an e-mail address")
        default: nil
        }
    }

    private static func deletion(_ number: Int) -> Entry? {
        switch number {
        case 119_005: (.wrongCode, "the code is wrong or has expired; enter the latest one")
        case 119_006: (.unknownUser, "there is no such user any more")
        case 119_007: (.invalidInput, "the code is missing")
        case 119_001...119_009: (.rejected, "the cloud did not delete the account")
        case 119_014: (.serverFault, "the cloud could not delete the account now; try again later")
        case 119_015:
            (.codeExpired, "the account's deletion was not requested, or was requested too long ago; request it first")
        case 119_016: (.limitReached, "too many wrong codes; request the account's deletion again")
        case 119_017: (.forbidden, "a super-administrator cannot be deleted this way")
        default: nil
        }
    }

    private static func node(_ number: Int) -> Entry? {
        switch number {
        case 102_002: (.rejected, "the cloud did not update the node's parameters")
        case 102_006: (.unknownNode, "the node has not reported its parameters yet")
        case 103_002: (.unknownNode, "the node has not reported its configuration yet")
        case 103_020, 103_055: (.unknownNode, "the node is not in this account")
        case 107_085: (.forbidden, "only the node's primary user may do this")
        case 103_003...103_010: (.mappingRefused, "the cloud refused to put the board into the account")
        case 103_011: (.mappingRefused, "the mapping request has timed out; try again")
        case 103_012: (.mappingRefused, "the cloud did not remove the node from the account")
        case 103_013: (.unknownNode, "the node is not in this account")
        case 103_016...103_017: (.mappingRefused, "the cloud could not look the mapping request up")
        case 103_018: (.mappingRefused, "the cloud does not know the mapping request any more; try again")
        case 103_029: (.mappingRefused, "the cloud does not accept the challenge's time limit")
        case 103_031:
            (
                .mappingRefused,
                "the signature that the board sent does not match the node; check that the node was claimed for this deployment"
            )
        case 103_033: (.mappingRefused, "the mapping request has already been confirmed")
        case 103_034:
            (.mappingRefused, "the mapping request has failed, timed out or was discarded; try again")
        case 103_035: (.mappingRefused, "the node is in the account, but could not be added to the group")
        case 105_046: (.invalidTag, RainMakerInput.tagRule)
        case 107_032: (.mappingRefused, "this is a Matter node, which cannot be mapped in this way")
        case 109_001, 109_003, 109_004: (.serverFault, "the cloud could not look up its MQTT host; try again later")
        case 119_018...119_022: (.rejected, "the cloud did not return credentials")
        default: nil
        }
    }
}
