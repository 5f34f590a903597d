import JSON

/// A refusal, in the words of the cloud: HTTP status, error code and description.
struct APIError: Error, Equatable {
    var status: Int
    /// Nil when not the cloud itself refuses but the gateway before it.
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

    // The gateway's.
    static let unauthorized = APIError(401, nil, "Unauthorized")
    static let notFound = APIError(404, nil, "Not Found")

    // The cloud's, by code.
    static let unsupportedVersion = APIError(100002, "API version is not supported")
    static let methodNotAllowed = APIError(100003, "Method is not allowed")
    static let invalidBody = APIError(100006, "Request body is not valid")
    static let nodeIDMissing = APIError(100009, "Node id is missing")
    static let nodeNotOwned = APIError(100010, "Node does not belong to the user")
    static let nodesMissing = APIError(404, 100015, "Nodes do not exist")
    static let invalidQuery = APIError(100021, "Query parameter is not valid")
    static let userNameMissing = APIError(101001, "User name is missing")
    static let passwordMissing = APIError(101003, "Password or verification code is missing")
    static let wrongPassword = APIError(101009, "Incorrect user name or password")
    static let userMissing = APIError(404, 101025, "User does not exist")
    static let refreshFailed = APIError(101017, "Refreshing the access token failed")
    static let badLogoutAll = APIError(101036, "Value of logout_all is not valid")
    static let nothingToUpdate = APIError(101045, "Nothing to update was given")
    static let badName = APIError(101053, "Name must have 1 to 256 characters")
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
    static let badTag = APIError(105046, "Tags must have the form key:value")

    private init(_ code: Int64, _ description: String) { self.init(400, code, description) }
}
