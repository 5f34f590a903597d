// SPDX-License-Identifier: Apache-2.0
import Protocomm
import ProtocommCore
import RainJSON

/// A RainMaker node's configuration and values, in the session in which its board is provisioned: before it has a network, or without one
/// (esp-rainmaker's `esp_rmaker_prov_local_ctrl.c`). Call ``Board/secure()`` first.
///
/// Boards with this function list `rmaker_extra.local_ctrl` in their ``BoardIdentity/capabilities``. Every call throws
/// `BoardError`: `malformed` for answers that make no sense, `rejected` for values that the board does not accept.
public struct NodeData: Sendable {
    /// The name of this function in ``BoardIdentity/capabilities``.
    public static let capability = "rmaker_extra.local_ctrl"
    /// Far more than any firmware sends.
    static let maximumBytes: UInt32 = 64 << 10

    private let board: any Board

    public init(_ board: any Board) { self.board = board }

    /// Returns the node's configuration as JSON.
    public func configuration() async throws(BoardError) -> [UInt8] {
        try await read(.configuration, from: .getConfiguration)
    }

    /// Returns the node's current values as JSON.
    public func parameters() async throws(BoardError) -> [UInt8] {
        try await read(.parameters, from: .getParameters)
    }

    /// Sets values of the node: JSON such as `{"Light":{"Power":true}}`.
    public func setParameters(_ values: [UInt8]) async throws(BoardError) {
        let answer = try await board.send(values, to: Self.text(.setParameters))
        let json: JSONValue
        do throws(JSONError) {
            json = try JSONValue(parsing: answer, limits: JSONLimits(maximumBytes: 4096, maximumDepth: 4))
        } catch { throw malformed() }
        switch json["status"]?.string {
        case "success": return
        case "fail":
            throw BoardError(
                .rejected, message: "\(board.peer) does not accept these values.",
                cause: json["description"]?.string.map { String($0.prefix(200)) })
        default: throw malformed()
        }
    }

    /// Reads all fragments: firmware sends 200 bytes at a time.
    private func read(_ type: LocalDataType, from endpoint: Endpoint) async throws(BoardError) -> [UInt8] {
        var text: [UInt8] = []
        while true {
            let command = LocalDataPayload(
                .commandGetData(GetDataCommand(dataType: type, offset: UInt32(text.count))))
            let answer = try await board.send(command.encoded(), to: Self.text(endpoint))
            let payload: LocalDataPayload.Payload?
            do throws(WireError) { payload = try LocalDataPayload(decoding: answer).payload } catch {
                throw malformed()
            }
            guard case .responseGetData(let response)? = payload else { throw malformed() }
            guard response.status == .success, let buffer = response.buffer, buffer.offset == UInt32(text.count),
                buffer.totalLength <= Self.maximumBytes, !buffer.payload.isEmpty,
                text.count + buffer.payload.count <= Int(buffer.totalLength)
            else { throw malformed() }
            text += buffer.payload
            if text.count == Int(buffer.totalLength) { return text }
        }
    }

    private static func text(_ endpoint: Endpoint) -> String { String(decoding: endpoint.name, as: UTF8.self) }

    private func malformed() -> BoardError {
        BoardError(.malformed, message: "\(board.peer) did not answer with the values of a node.")
    }
}
