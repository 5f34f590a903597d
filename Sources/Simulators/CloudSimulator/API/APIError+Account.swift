// SPDX-License-Identifier: Apache-2.0

/// The codes of account calls.
extension APIError {
    static let notAllowed = APIError(100004, "You are not authorized to perform this operation")
    static let codeExpired = APIError(100068, "Verification code has expired")
    static let userNameMissing = APIError(101001, "User name is missing")
    static let badEmail = APIError(101002, "Email is not valid")
    static let passwordMissing = APIError(101003, "Password or verification code is missing")
    static let weakPassword = APIError(
        101004,
        "Password must have 8 to 256 characters, no white space, an upper-case letter, a lower-case letter and a number"
    )
    static let accountExists = APIError(101006, "User account already exists")
    static let wrongCurrentPassword = APIError(101007, "Current password is incorrect")
    static let wrongPassword = APIError(101009, "Incorrect user name or password")
    static let alreadyVerified = APIError(101011, "User is already verified")
    static let wrongCode = APIError(101012, "Verification code is incorrect")
    static let notVerified = APIError(101015, "User account is not verified")
    static let loginFailed = APIError(101016, "Login failed")
    static let refreshFailed = APIError(101017, "Refreshing the access token failed")
    static let newPasswordMissing = APIError(101018, "New password is missing")
    static let attemptsExceeded = APIError(500, 101019, "Attempt limit exceeded, try again later")
    /// This simulator's own: it keeps ``UserTable/maximum`` accounts.
    static let noRoom = APIError(500, 101008, "User creation failed: the simulator keeps no more accounts")
    static let passwordChangeFailed = APIError(101020, "Changing the password failed")
    static let userMissing = APIError(404, 101025, "User does not exist")
    static let codeMissing = APIError(101030, "Verification code is missing")
    static let resetFailed = APIError(101031, "Forgot password request failed")
    static let resetPasswordMissing = APIError(101032, "Password is missing")
    static let badLogoutAll = APIError(101036, "Value of logout_all is not valid")
    static let badPhone = APIError(101037, "Phone number is not valid")
    static let sessionMissing = APIError(101039, "Session is missing")
    static let nothingToUpdate = APIError(101045, "Nothing to update was given")
    static let phoneMissing = APIError(101047, "Phone number is not set")
    static let badName = APIError(101053, "Name must have 1 to 256 characters")
    static let phoneTaken = APIError(101056, "Phone number is already in use")
    static let badTagOperation = APIError(101066, "Operation must be add or remove")
    static let badUserTag = APIError(101067, "Tags must have the form key:value")
    static let notForGuests = APIError(101087, "Operation is not allowed for guest users")
    static let onlyEmail = APIError(101097, "A guest can be converted to an email address only")
    static let badLocale = APIError(112048, "Locale is not valid")
    static let wrongDeletionCode = APIError(119005, "Verification code is incorrect")
    static let deletionCodeMissing = APIError(119007, "Verification code is missing")
    static let deletionNotRequested = APIError(119014, "Delete user request does not exist")
    static let deletionAttemptsExceeded = APIError(119015, "Attempt limit exceeded, request the deletion again")
    static let superAdminStays = APIError(119017, "Super admin users cannot be deleted")
}
