// SPDX-License-Identifier: Apache-2.0
import ProtocommCore

/// Names of a board's faulty answers for messages: the object of "the board answered with".
extension Status {
    /// The status with its name in `constants.proto`, such as `status 5 (internal error)`.
    package var title: String {
        let name =
            switch self {
            case .success: "success"
            case .invalidSecurityScheme: "invalid security scheme"
            case .invalidProtocol: "invalid protocol"
            case .tooManySessions: "too many sessions"
            case .invalidArgument: "invalid argument"
            case .internalError: "internal error"
            case .cryptoError: "cryptography error"
            case .invalidSession: "invalid session"
            default: "unknown"
            }
        return "status \(rawValue) (\(name))"
    }
}

extension UserMappingStatus {
    /// The status with its name in `esp_rmaker_user_mapping.proto`.
    package var title: String {
        let name =
            switch self {
            case .success: "success"
            case .invalidParameter: "invalid parameter"
            case .invalidState: "invalid state"
            default: "unknown"
            }
        return "status \(rawValue) (\(name))"
    }
}

extension ChallengeResponseStatus {
    /// The status with its name in `esp_rmaker_chal_resp.proto`.
    package var title: String {
        let name =
            switch self {
            case .success: "success"
            case .fail: "failure"
            case .invalidParameter: "invalid parameter"
            case .disabled: "disabled"
            default: "unknown"
            }
        return "status \(rawValue) (\(name))"
    }
}

extension ClaimStatus {
    /// The status with its name in `esp_rmaker_claim.proto`.
    package var title: String {
        let name =
            switch self {
            case .success: "success"
            case .fail: "failure"
            case .invalidParameter: "invalid parameter"
            case .invalidState: "invalid state"
            case .noMemory: "no memory"
            default: "unknown"
            }
        return "status \(rawValue) (\(name))"
    }
}

extension BoardError {
    /// The ``faultyAnswer`` of an answer that is not the expected message.
    package static let unreadable = "a message that cannot be read"

    /// The error for a board that answers over HTTP with a status other than 200.
    package static func answered(httpStatus: Int, _ endpoint: Endpoint, _ peer: String) -> BoardError {
        let answer = "HTTP status \(httpStatus)"
        var error = BoardError(
            .malformed, endpoint: endpoint, peer: peer,
            message:
                "The board answered with \(answer) at its endpoint \(endpoint). Restart the board, then try again. If that does not help, "
                + "update its firmware.")
        error.faultyAnswer = answer
        return error
    }

    /// The error for an endpoint that the board does not have.
    package static func missing(_ endpoint: Endpoint, _ peer: String) -> BoardError {
        let consequence = endpoint.consequenceOfAbsence.map { ": \($0)" } ?? ""
        return BoardError(
            .noSuchEndpoint, endpoint: endpoint, peer: peer,
            message: "The board has no endpoint \(endpoint)\(consequence).")
    }
}

extension Endpoint {
    /// What firmware without this endpoint does not do; nil for an endpoint of the application.
    fileprivate var consequenceOfAbsence: String? {
        switch self {
        case .session, .localControlSession: "its firmware does not offer a secure session"
        case .config: "its firmware does not offer Wi-Fi settings over this connection"
        case .scan: "its firmware does not offer a scan for Wi-Fi networks"
        case .control: "its firmware does not offer a reset of its Wi-Fi settings"
        case .userMapping, .challengeResponse: "its firmware does not offer an association with a RainMaker account"
        case .claim: "its firmware does not offer a claim"
        case .localControl, .getParameters, .setParameters, .getConfiguration:
            "its firmware does not offer local control over this connection"
        default: nil
        }
    }
}
