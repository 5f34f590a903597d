// SPDX-License-Identifier: Apache-2.0
import RainJSON

/// A refusal in the cloud's format: HTTP status, error code and description.
struct APIError: Error, Equatable {
    var status: Int
    /// The cloud's `error_code`; nil if the API gateway in front of the cloud refuses.
    var code: Int64?
    var description: String

    init(_ status: Int = 400, _ code: Int64?, _ description: String) {
        self.status = status
        self.code = code
        self.description = description
    }

    var response: Response {
        guard let code else { return Response(status: status, ["message": .string(description)]) }
        return Response(
            status: status,
            ["status": "failure", "error_code": .integer(code), "description": .string(description)])
    }

    // Refusals of the API gateway.
    static let unauthorized = APIError(401, nil, "Unauthorized")
    static let notFound = APIError(404, nil, "Not Found")

    // Refusals of the cloud, by code.
    static let unsupportedVersion = APIError(100002, "API version is not supported")
    static let methodNotAllowed = APIError(100003, "Method is not allowed")
    static let invalidBody = APIError(100006, "Request body is not valid")
    static let invalidRequest = APIError(100012, "Request is not valid")
    static let nodeIDMissing = APIError(100009, "Node id is missing")
    static let nodeNotOwned = APIError(100010, "Node does not belong to the user")
    static let nodesMissing = APIError(404, 100015, "Nodes do not exist")
    static let invalidQuery = APIError(100021, "Query parameter is not valid")
    static let configAbsent = APIError(103002, "Node config does not exist")
    static let paramsAbsent = APIError(102006, "Node params do not exist")
    /// The cloud's refusal of the status of another user's node.
    static let foreignStatus = APIError(103020, "User is not associated with the node")
    static let notPrimary = APIError(107085, "Only the primary user of the node may do this")
    static let noAssociation = APIError(103055, "Node is not associated with the user")
    static let dataTooLarge = APIError(100036, "Custom data is too large")
    static let badMappingOperation = APIError(103003, "Operation must be add or remove")
    static let secretMissing = APIError(103004, "Secret key is missing")
    static let nodeIDTooLong = APIError(103005, "Node id is too long")
    static let secretTooLong = APIError(103006, "Secret key is too long")
    static let mappingMissing = APIError(103013, "User node mapping does not exist")
    static let mappingTimedOut = APIError(103011, "Mapping request timed out")
    static let requestIDMissing = APIError(103016, "Request id is missing")
    static let requestNotFound = APIError(103018, "Mapping request does not exist")
    static let challengeTimeoutOutOfRange = APIError(103029, "Challenge timeout is out of range")
    static let wrongChallengeResponse = APIError(103031, "Challenge response is not valid")
    static let alreadyConfirmed = APIError(103033, "Mapping request is already confirmed")
    static let requestDecided = APIError(103034, "Mapping request failed, timed out or was discarded")
    // The published description has no separate numbers for these.
    static let sharingRequestMissing = APIError(100012, "Sharing request does not exist")
    static let groupMissing = APIError(404, 100012, "Group does not exist")
    static let groupIDMissing = APIError(100012, "Group id is missing")
    static let groupNameMissing = APIError(100012, "Group name is missing")
    static let badGroupName = APIError(100012, "Group name must have 2 to 256 characters")
    static let automationMissing = APIError(404, 100012, "Automation does not exist")
    static let badTag = APIError(105046, "Tags must have the form key:value")

    init(_ code: Int64, _ description: String) { self.init(400, code, description) }
}

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
    /// This simulator's own error: it keeps at most ``UserTable/maximum`` accounts.
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
    static let phoneVerified = APIError(101051, "Phone number is already verified")
    static let wrongPhoneCode = APIError(101052, "Verification code of the phone number is incorrect")
    static let phoneTaken = APIError(101056, "Phone number is already in use")
    static let badTagOperation = APIError(101066, "Operation must be add or remove")
    static let badUserTag = APIError(101067, "Tags must have the form key:value")
    static let noGuest = APIError(401, 100004, "User is not a guest user")
    static let notForGuests = APIError(101087, "Operation is not allowed for guest users")
    static let onlyEmail = APIError(101097, "A guest can be converted to an email address only")
    static let badLocale = APIError(112048, "Locale is not valid")
    static let wrongDeletionCode = APIError(119005, "Verification code is incorrect")
    static let deletionCodeMissing = APIError(119007, "Verification code is missing")
    static let deletionNotRequested = APIError(119015, "Delete user request does not exist")
    static let deletionAttemptsExceeded = APIError(119016, "Attempt limit exceeded, request the deletion again")
    static let superAdminStays = APIError(119017, "Super admin users cannot be deleted")
}
