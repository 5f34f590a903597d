// SPDX-License-Identifier: Apache-2.0
import RainJSON

/// A refusal, in the words of the cloud: HTTP status, error code and description.
struct APIError: Error, Equatable {
    var status: Int
    /// The cloud's `error_code`; nil when the API gateway in front of the cloud refuses.
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
    /// The cloud's answer to a question about the status of somebody else's node.
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
    // The published description has no numbers of their own for these.
    static let sharingRequestMissing = APIError(100012, "Sharing request does not exist")
    static let groupMissing = APIError(404, 100012, "Group does not exist")
    static let groupIDMissing = APIError(100012, "Group id is missing")
    static let groupNameMissing = APIError(100012, "Group name is missing")
    static let badGroupName = APIError(100012, "Group name must have 2 to 256 characters")
    static let automationMissing = APIError(404, 100012, "Automation does not exist")
    static let badTag = APIError(105046, "Tags must have the form key:value")

    init(_ code: Int64, _ description: String) { self.init(400, code, description) }
}
