// SPDX-License-Identifier: Apache-2.0
import ProtocommCore

/// `cloud_user_assoc`: takes the user's id and secret, and keeps them for the cloud.
struct UserMapping: Sendable {
    /// What was received last and not reported yet.
    private(set) var pending: SetUserMappingCommand?

    mutating func respond(to request: [UInt8], nodeID: [UInt8]) throws(HandlerFailure) -> [UInt8] {
        let message: UserMappingPayload
        do { message = try UserMappingPayload(decoding: request) } catch { throw HandlerFailure() }
        guard message.message == .commandSetUserMapping else { return [] }
        guard case .commandSetUserMapping(let command)? = message.payload else {
            return UserMappingPayload(.responseSetUserMapping(SetUserMappingResponse(status: .invalidParameter)))
                .encoded()
        }
        start(userID: command.userID, secretKey: command.secretKey)
        return UserMappingPayload(.responseSetUserMapping(SetUserMappingResponse(status: .success, nodeID: nodeID)))
            .encoded()
    }

    /// `esp_rmaker_start_user_node_mapping`: the last call wins.
    mutating func start(userID: [UInt8], secretKey: [UInt8]) {
        pending = SetUserMappingCommand(userID: userID.untilNull, secretKey: secretKey.untilNull)
    }

    mutating func reported() { pending = nil }
}
