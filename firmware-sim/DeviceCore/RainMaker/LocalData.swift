// SPDX-License-Identifier: Apache-2.0
import ProtocommCore

/// `get_params`, `get_config` and `set_params` in the provisioning session: the node's values before it has a network
/// (esp-rainmaker's `esp_rmaker_prov_local_ctrl.c`).
struct LocalData: Sendable {
    /// `DATA_FRAGMENT_SIZE`.
    static var fragmentSize: Int { 200 }

    /// What is being read, from its first fragment on.
    private var text: [UInt8] = []

    /// - Parameter current: what the node has now, of that kind.
    mutating func respond(
        to request: [UInt8], _ kind: LocalDataType, current: [UInt8]
    ) throws(HandlerFailure) -> [UInt8] {
        let message: LocalDataPayload
        do { message = try LocalDataPayload(decoding: request) } catch { throw HandlerFailure() }
        var command = GetDataCommand(dataType: kind)
        if case .commandGetData(let given)? = message.payload { command = given }
        // Signed data, which a request with a timestamp wants, is for clients that report in the node's place.
        guard command.dataType == kind, !command.hasTimestamp else { return Self.refusal(.invalidParameter) }
        let offset = Int(command.offset)
        if offset == 0 { text = current }
        guard !text.isEmpty else { return Self.refusal(.fail) }
        guard offset <= text.count else { return Self.refusal(.invalidParameter) }
        let fragment = text.dropFirst(offset).prefix(Self.fragmentSize)
        let buffer = PayloadBuffer(
            offset: command.offset, payload: Array(fragment), totalLength: UInt32(text.count))
        if offset + fragment.count >= text.count { text = [] }
        return LocalDataPayload(.responseGetData(PayloadResponse(status: .success, buffer: buffer))).encoded()
    }

    private static func refusal(_ status: LocalDataStatus) -> [UInt8] {
        LocalDataPayload(.responseGetData(PayloadResponse(status: status))).encoded()
    }

    /// Whether it may be an object; the application parses it.
    static func isObject(_ text: [UInt8]) -> Bool {
        func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || (0x09...0x0D).contains(byte) }
        return text.first { !isSpace($0) } == UInt8(ascii: "{") && text.last { !isSpace($0) } == UInt8(ascii: "}")
    }
}
