// SPDX-License-Identifier: Apache-2.0
import ProtocommCore
import RainCrypto

/// `rmaker_claim`: the board's side of assisted claiming.
///
/// States, limits and results are those of esp-rainmaker's `esp_rmaker_claim.c`, with two differences. An offset beyond the buffer is
/// `noMemory` here and overwrites memory there. A certificate of another board is `invalidParameter` here, and only the broker detects it
/// there.
///
/// A claim ends with an abort, with a certificate that is refused, or with one that is stored. Then the RainMaker task wakes up, frees the
/// claim's data, and gives up unless there is a certificate. The endpoint stays until the board restarts. The firmware's behaviour for
/// later commands is undefined, because its handler has a pointer to freed memory. Here a later command fails. That is the handler's
/// behaviour for a null pointer, and the behaviour of Espressif's later SDK.
struct AssistedClaim: Sendable {
    /// `MAX_PAYLOAD_SIZE`, which must include a NUL.
    private static let bufferSize = 3072
    /// `CLAIM_FRAGMENT_SIZE`.
    private static let fragmentSize = 200
    /// The firmware reads the id into 64 bytes.
    private static let maximumNodeID = 63

    /// `esp_rmaker_claim_state_t`, in its order.
    private enum State: Sendable, Equatable { case ready, started, requesting, requested, over }

    /// The outcome of a request, for the board's log.
    enum Outcome: Equatable {
        case nothing
        case started
        /// The last fragment of the request was sent.
        case requested
        case claimed(nodeID: [UInt8], certificate: [UInt8])
        case aborted
        case refused(ClaimStatus)
        /// The board restarts without answering.
        case reboot
        /// A claim has ended since the board started; the client gets no answer.
        case over
    }

    private let macAddress: [UInt8]
    private var faults: [ClaimFault]
    private var fault: ClaimFault?
    private var state = State.ready
    private var nodeID: [UInt8] = []
    /// First the outgoing request, then the incoming certificate.
    private var buffer: [UInt8] = []
    private var cursor = 0

    init(macAddress: [UInt8], faults: [ClaimFault]) {
        self.macAddress = macAddress
        self.faults = faults
    }

    /// Restarts the board: only its key and the remaining faults are kept.
    mutating func restart() { self = AssistedClaim(macAddress: macAddress, faults: faults) }

    /// - Parameter credential: nil on a board whose key is not ready yet.
    mutating func respond<Credential: NodeCredential>(
        to request: [UInt8], credential: Credential?
    ) throws(HandlerFailure) -> (reply: [UInt8], outcome: Outcome) {
        guard state != .over else { return ([], .over) }
        let message: ClaimPayload
        do { message = try ClaimPayload(decoding: request) } catch { throw HandlerFailure() }
        var answer = PayloadResponse<ClaimStatus>(status: .fail)
        var outcome = Outcome.nothing
        switch message.message {
        case .commandStart: (answer, outcome) = start(isReady: credential != nil)
        case .commandInit: (answer, outcome) = handOutRequest(message.payload, credential)
        case .commandVerify: (answer, outcome) = takeCertificate(message.payload, credential)
        case .commandAbort:
            state = .over
            (answer.status, outcome) = (.success, .aborted)
        default: break
        }
        if answer.status != .success, outcome == .nothing { outcome = .refused(answer.status) }
        let type = ClaimMessageType(rawValue: message.message.rawValue &+ 1)
        return (ClaimPayload(type, .response(answer)).encoded(), outcome)
    }

    private typealias Step = (PayloadResponse<ClaimStatus>, Outcome)

    private func refusal(_ status: ClaimStatus) -> Step { (PayloadResponse(status: status), .nothing) }

    private mutating func start(isReady: Bool) -> Step {
        fault = faults.isEmpty ? nil : faults.removeFirst()
        if fault == .reboot(at: .start) { return (PayloadResponse(), .reboot) }
        guard isReady, fault != .notReady else { return refusal(.invalidState) }
        var text = bytes("{\"mac_addr\":")
        text.append(jsonString: macAddress)
        text.append(",\"platform\":\"esp32c3\"}")
        state = .started
        return (PayloadResponse(buffer: PayloadBuffer(payload: text, totalLength: UInt32(text.count))), .started)
    }

    // MARK: The request

    private mutating func handOutRequest<Credential: NodeCredential>(
        _ payload: ClaimPayload.Payload?, _ credential: Credential?
    ) -> Step {
        guard state != .ready else { return refusal(.invalidState) }
        if state != .requesting {
            if fault == .reboot(at: .initiate) { return (PayloadResponse(), .reboot) }
            let received: PayloadBuffer
            switch Self.validated(payload) {
            case .success(let buffer): received = buffer
            case .failure(let refused): return refusal(refused.status)
            }
            guard UInt32(received.payload.count) == received.totalLength else { return refusal(.invalidParameter) }
            guard let id = jsonString("node_id", in: received.payload.untilNull), id.count <= Self.maximumNodeID,
                let text = requestText(for: id, credential)
            else { return refusal(.invalidParameter) }
            (nodeID, buffer, cursor, state) = (id, text, 0, .requesting)
        } else if fault == .reboot(at: .request) {
            return (PayloadResponse(), .reboot)
        }
        if case .loseFragment(let number) = fault, number == cursor / Self.fragmentSize + 1 {
            cursor = min(cursor + Self.fragmentSize, buffer.count)
            fault = nil
        }
        let fragment = Array(buffer[cursor..<min(cursor + Self.fragmentSize, buffer.count)])
        let answer = PayloadBuffer(
            offset: UInt32(cursor), payload: fragment, totalLength: UInt32(buffer.count))
        cursor += fragment.count
        guard cursor == buffer.count else { return (PayloadResponse(buffer: answer), .nothing) }
        state = .requested
        return (PayloadResponse(buffer: answer), .requested)
    }

    private func requestText<Credential: NodeCredential>(for id: [UInt8], _ credential: Credential?) -> [UInt8]? {
        guard let credential else { return nil }
        let request: [UInt8]
        do {
            request = try credential.certificateRequest(for: fault == .wrongRequest ? id + [UInt8(ascii: "x")] : id)
        } catch { return nil }
        var text = bytes("{\"csr\":")
        text.append(jsonString: request)
        text.append(",\"send_mqtt_host\":true")
        if fault == .oversizeRequest {
            text.append(",\"padding\":")
            text.append(jsonString: [UInt8](repeating: UInt8(ascii: "x"), count: Self.bufferSize))
        }
        text.append("}")
        return text
    }

    // MARK: The certificate

    private mutating func takeCertificate<Credential: NodeCredential>(
        _ payload: ClaimPayload.Payload?, _ credential: Credential?
    ) -> Step {
        guard state == .requested else { return refusal(.invalidState) }
        let received: PayloadBuffer
        switch Self.validated(payload) {
        case .success(let buffer): received = buffer
        case .failure(let refused): return refusal(refused.status)
        }
        let (start, end) = (Int(received.offset), Int(received.offset) + received.payload.count)
        guard end < Self.bufferSize else { return refusal(.noMemory) }
        if start == 0 {
            if fault == .reboot(at: .certificate) { return (PayloadResponse(), .reboot) }
            buffer = []
        }
        // Missing bytes stay zero, as in the firmware's buffer.
        while buffer.count < end { buffer.append(0) }
        buffer.replaceSubrange(start..<end, with: received.payload)
        guard UInt32(end) == received.totalLength else { return (PayloadResponse(), .nothing) }
        if fault == .reboot(at: .lastCertificate) { return (PayloadResponse(), .reboot) }
        state = .over
        guard let certificate = jsonString("certificate", in: buffer.untilNull), let credential,
            credential.accepts(certificate: certificate, for: nodeID)
        else { return refusal(.invalidParameter) }
        return (PayloadResponse(), .claimed(nodeID: nodeID, certificate: certificate))
    }

    private struct Refused: Error { var status: ClaimStatus }

    private static func validated(_ payload: ClaimPayload.Payload?) -> Result<PayloadBuffer, Refused> {
        guard case .command(let received)? = payload else { return .failure(Refused(status: .invalidParameter)) }
        guard UInt64(received.payload.count) + UInt64(received.offset) <= UInt64(received.totalLength) else {
            return .failure(Refused(status: .invalidParameter))
        }
        guard received.payload.count < bufferSize else { return .failure(Refused(status: .noMemory)) }
        return .success(received)
    }
}

/// A fault of the board in one claim. A board may have several faults; each affects one claim, in their order.
public enum ClaimFault: Sendable, Equatable {
    /// The step at whose command the board restarts, without an answer.
    public enum Step: Sendable, Equatable {
        case start
        /// The service's reply arrives.
        case initiate
        /// The second fragment of the request is requested.
        case request
        /// The first fragment of the certificate arrives.
        case certificate
        /// The last fragment of the certificate arrives.
        case lastCertificate
    }

    /// That fragment of the request, counted from 1, is sent and then lost.
    case loseFragment(Int)
    /// The request is longer than any firmware's buffer.
    case oversizeRequest
    /// The request is for another node.
    case wrongRequest
    case reboot(at: Step)
    /// The key is not ready yet.
    case notReady
}
