// SPDX-License-Identifier: Apache-2.0
import RainCore
import RainKit

@testable import rainctl

extension GoldenResult {
    /// What ends with one command, or waits for a code.
    static let accountSteps: [GoldenResult] = [
        GoldenResult(
            ConfirmationResult(profile: "p", userName: "me", isConfirmed: true),
            json: #"{"profile":"p","user_name":"me","confirmed":true}"#,
            text: "The account of me is confirmed. Sign in: rainctl login me"),
        GoldenResult(
            ConfirmationResult(profile: "p", userName: "me", isConfirmed: false),
            json: """
                {"profile":"p","user_name":"me","confirmed":false,"next":"rainctl account confirm me --code-stdin"}
                """,
            text: "A code was sent to me. Confirm the account with it: rainctl account confirm me --code-stdin"),
        GoldenResult(
            CodeResentResult(profile: "p", userName: "me"),
            json: #"{"profile":"p","user_name":"me","next":"rainctl account confirm me --code-stdin"}"#,
            text: "A new code was sent to me. Confirm the account with it: rainctl account confirm me --code-stdin"),
        GoldenResult(
            AccountUpdateResult(profile: "p", userName: "me", phone: .unchanged),
            json: #"{"profile":"p","user_name":"me"}"#, text: "Updated."),
        GoldenResult(
            AccountUpdateResult(profile: "p", userName: "me", phone: .confirmed),
            json: #"{"profile":"p","user_name":"me","phone_confirmed":true}"#, text: "Updated."),
        GoldenResult(
            AccountUpdateResult(profile: "p", userName: "me", phone: .codeSent(to: "+1555")),
            json: """
                {"profile":"p","user_name":"me","phone_confirmed":false,\
                "next":"rainctl account update --confirm-phone --code-stdin"}
                """,
            text: """
                Updated. A code was sent to +1555. Confirm the number with it: \
                rainctl account update --confirm-phone --code-stdin
                """),
        GoldenResult(
            PasswordChangedResult(profile: "p", userName: "me"), json: #"{"profile":"p","user_name":"me"}"#,
            text: "The password is changed and all your sessions have ended. Sign in: rainctl login me"),
        GoldenResult(
            PasswordResetResult(profile: "p", userName: "me", isReset: true),
            json: #"{"profile":"p","user_name":"me","reset":true}"#,
            text: "The new password is set. Sign in: rainctl login me"),
        GoldenResult(
            PasswordResetResult(profile: "p", userName: "me", isReset: false),
            json: """
                {"profile":"p","user_name":"me","reset":false,\
                "next":"rainctl account password reset me --code-file FILE --new-password-stdin"}
                """,
            text: """
                A code was sent to me. Set the new password with it: \
                rainctl account password reset me --code-file FILE --new-password-stdin
                """),
        GoldenResult(
            ConversionResult(profile: "p", converted: UserInfo(userID: UserID("u1"), userName: "me")),
            json: #"{"profile":"p","user_name":"me","user_id":"u1","converted":true}"#,
            text: "The guest is now me, and signed in."),
        GoldenResult(
            ConversionResult(profile: "p", pending: "me"),
            json: """
                {"profile":"p","user_name":"me","converted":false,\
                "next":"rainctl account convert me --code-stdin --password-file FILE"}
                """,
            text: """
                A code was sent to me. Finish with it: rainctl account convert me --code-stdin --password-file FILE
                """),
        GoldenResult(
            DeletionResult(profile: "p", userName: "me", isDeleted: true),
            json: #"{"profile":"p","user_name":"me","deleted":true}"#,
            text: "The account of me is deleted, and you are signed out."),
        GoldenResult(
            DeletionResult(profile: "p", userName: "me", isDeleted: false),
            json: """
                {"profile":"p","user_name":"me","deleted":false,"next":"rainctl account delete --code-stdin"}
                """,
            text: "A code was sent to me. Delete the account with it: rainctl account delete --code-stdin"),
    ]
}
