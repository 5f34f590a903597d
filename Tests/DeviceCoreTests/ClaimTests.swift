// SPDX-License-Identifier: Apache-2.0
import DeviceCore
import ProtocommCore
import RainCrypto
import RainJSON
import TestSupport
import Testing

/// The board's side of assisted claiming, by the rules of esp-rainmaker's `esp_rmaker_claim.c`.
@Suite("Assisted claiming at the board")
struct ClaimTests {
    private static let mac = "7CDFA1000001"

    private func board(
        _ faults: [ClaimFault] = [], association: DeviceConfiguration.Association = .challengeResponse,
        signer: HashSigner? = HashSigner()
    ) -> Board {
        Board(
            DeviceConfiguration(
                nodeID: Array(Self.mac.utf8), security: .security0, association: association, isClaimed: false,
                claimFaults: faults), signer: signer)
    }

    @Test("a whole claim: address, request in fragments of 200 bytes, certificate, and a new name")
    func success() throws {
        var board = board()
        let start = try board.claim(.commandStart)
        let text = #"{"mac_addr":"7CDFA1000001","platform":"esp32c3"}"#
        #expect(
            start
                == PayloadResponse(
                    buffer: PayloadBuffer(payload: Array(text.utf8), totalLength: UInt32(text.utf8.count))))
        let request = try board.requestCertificate(node: "assigned-1")
        #expect(request.fragments.dropLast().allSatisfy { $0.payload.count == 200 })
        #expect(request.fragments.count == 2)
        let json = try JSONValue(parsing: request.text)
        #expect(json["csr"]?.string == "request\n" + String(repeating: "=", count: 250) + "\nfor assigned-1\n")
        #expect(json["send_mqtt_host"] == true)
        let verdicts = try board.deliver(#"{"certificate":"certificate for assigned-1"}"#, pieces: 20)
        #expect(verdicts.allSatisfy { $0 == PayloadResponse() })
        #expect(board.core.nodeID == Array("assigned-1".utf8))
        #expect(board.core.certificate == Array("certificate for assigned-1".utf8))
        let events = board.core.takeEvents()
        #expect(
            events.suffix(3) == [.claimStarted, .certificateRequested, .claimed(nodeID: Array("assigned-1".utf8))])
        let config = try #require(board.core.nextPublication)
        #expect(String(decoding: config.topic, as: UTF8.self).hasSuffix("node/assigned-1/config"))
    }

    @Test("challenges are signed by a claimed node only, and then in its new name")
    func challenge() throws {
        var board = board()
        let request = ChallengeResponsePayload(.commandChallengeResponse(ChallengeCommand(payload: [1]))).encoded()
        #expect(board.send(request, .challengeResponse) == .refused)
        try board.claimWhole()
        guard case .reply(let reply) = board.send(request, .challengeResponse),
            case .responseChallengeResponse(let response)? = try ChallengeResponsePayload(decoding: reply).payload
        else { throw Refused() }
        #expect(response.nodeID == Array("assigned-1".utf8))
    }

    @Test("user mapping and console know the new name, too")
    func mapping() throws {
        var board = board(association: .userMapping)
        try board.claimWhole()
        board.core.startUserMapping(userID: Array("u".utf8), secretKey: Array("s".utf8))
        board.core.published(try #require(board.core.nextPublication))
        let message = try #require(board.core.nextPublication)
        #expect(try JSONValue(parsing: message.payload)["node_id"] == "assigned-1")
    }

    @Test("each step waits for the one before")
    func order() throws {
        var board = board()
        #expect(try board.claim(.commandInit).status == .invalidState)
        #expect(try board.claim(.commandVerify).status == .invalidState)
        _ = try board.claim(.commandStart)
        #expect(try board.claim(.commandVerify).status == .invalidState)
        #expect(board.core.takeEvents().suffix(2) == [.claimStarted, .claimRefused(.invalidState)])
    }

    @Test("a stuck claim restarts from every step")
    func again() throws {
        var board = board()
        _ = try board.claim(.commandStart)
        _ = try board.claim(.commandStart)
        _ = try board.claim(.commandInit, .reply(node: "assigned-1"))
        _ = try board.claim(.commandStart)
        _ = try board.requestCertificate(node: "assigned-1")
        _ = try board.claim(.commandStart)
        _ = try board.requestCertificate(node: "assigned-1")
        _ = try board.deliver(String(repeating: "x", count: 100), pieces: 200)
        // The refusal was the end of it.
        #expect(throws: Refused.self) { try board.claimWhole() }
    }

    enum End: CaseIterable { case aborted, abortedBeforeTheStart, refused, claimed }

    /// The task that waited for the claim frees its data then; the endpoint stays, until the board restarts.
    @Test(
        "after its end a claim takes no command any more, and the board never goes online without a certificate",
        arguments: End.allCases)
    func over(end: End) throws {
        var board = board()
        switch end {
        case .aborted:
            _ = try board.claim(.commandStart)
            #expect(try board.claim(.commandAbort).status == .success)
        case .abortedBeforeTheStart: #expect(try board.claim(.commandAbort).status == .success)
        case .refused:
            _ = try board.claim(.commandStart)
            _ = try board.requestCertificate(node: "assigned-1")
            #expect(try board.deliver("{}", pieces: 200).last?.status == .invalidParameter)
        case .claimed: try board.claimWhole()
        }
        _ = board.core.takeEvents()
        for command: ClaimMessageType in [.commandStart, .commandInit, .commandVerify, .commandAbort] {
            #expect(throws: Refused.self) { try board.claim(command) }
            #expect(board.core.takeEvents() == [.claimOver])
        }
        #expect((board.core.certificate != nil) == (end == .claimed))
        // Everything else goes on as if nothing had been.
        #expect(try board.set("Home", "correct horse") == .success)
    }

    @Test("without a key no claim begins", arguments: [false, true])
    func notReady(byFault: Bool) throws {
        var board = byFault ? board([.notReady]) : board(signer: nil)
        #expect(try board.claim(.commandStart).status == .invalidState)
        // Only the one claim meets the fault.
        #expect(try board.claim(.commandStart).status == (byFault ? .success : .invalidState))
    }

    @Test(
        "the service's reply has to be whole, within the buffer, and name the node",
        arguments: [
            (#"{"node_id":"assigned-1"}"#, 0, 0, ClaimStatus.success),
            (#"{"a":[1,{"b":"]}"}],"node_id":"as\u0073igned-1","c":null}"#, 0, 0, .success),
            (#"{"node_id":"assigned-1"}"#, 0, 1, .invalidParameter),
            (#"{"node_id":"assigned-1"}"#, 1, 0, .invalidParameter),
            (#"{"node_id":"assigned-1""#, 0, 0, .invalidParameter), (#"{"node_id":7}"#, 0, 0, .invalidParameter),
            ("{}", 0, 0, .invalidParameter), ("", 0, 0, .invalidParameter), ("[]", 0, 0, .invalidParameter),
            (#"{"node_id":"\#(String(repeating: "n", count: 63))"}"#, 0, 0, .success),
            (#"{"node_id":"\#(String(repeating: "n", count: 64))"}"#, 0, 0, .invalidParameter),
            (#"{"node_id":"n","padding":"\#(String(repeating: "x", count: 3072))"}"#, 0, 0, .noMemory),
        ] as [(String, UInt32, UInt32, ClaimStatus)])
    func reply(text: String, offset: UInt32, more: UInt32, status: ClaimStatus) throws {
        var board = board()
        _ = try board.claim(.commandStart)
        let buffer = PayloadBuffer(
            offset: offset, payload: Array(text.utf8), totalLength: UInt32(text.utf8.count) + more)
        #expect(try board.claim(.commandInit, buffer).status == status)
    }

    @Test(
        "a reply of 3071 bytes is taken, one of 3072 is not",
        arguments: [(3071, ClaimStatus.success), (3072, .noMemory)])
    func bound(length: Int, status: ClaimStatus) throws {
        let frame = #"{"node_id":"n","p":""}"#
        let text = #"{"node_id":"n","p":"\#(String(repeating: "x", count: length - frame.utf8.count))"}"#
        var board = board()
        _ = try board.claim(.commandStart)
        let buffer = PayloadBuffer(payload: Array(text.utf8), totalLength: UInt32(length))
        #expect(try board.claim(.commandInit, buffer).status == status)
    }

    @Test("no fragment of the request comes twice, and a lost one leaves a gap")
    func lostFragment() throws {
        var board = board([.loseFragment(1), .loseFragment(2)])
        _ = try board.claim(.commandStart)
        #expect(try board.claim(.commandInit, .reply(node: "assigned-1")).buffer?.offset == 200)
        _ = try board.claim(.commandStart)
        #expect(try board.claim(.commandInit, .reply(node: "assigned-1")).buffer?.offset == 0)
        let last = try #require(try board.claim(.commandInit).buffer)
        #expect(last.offset == last.totalLength && last.payload.isEmpty)
        try board.claimWhole()
    }

    private func waitingForCertificate() throws -> Board {
        var board = board()
        _ = try board.claim(.commandStart)
        _ = try board.requestCertificate(node: "assigned-1")
        return board
    }

    @Test("a certificate with a hole in it, for another node or of another kind is refused")
    func certificate() throws {
        var board = try waitingForCertificate()
        let good = #"{"certificate":"certificate for assigned-1"}"#
        let cut = Array(good.utf8)
        let head = PayloadBuffer(payload: Array(cut[..<10]), totalLength: UInt32(cut.count))
        let tail = PayloadBuffer(offset: 20, payload: Array(cut[20...]), totalLength: UInt32(cut.count))
        #expect(try board.claim(.commandVerify, head).status == .success)
        #expect(try board.claim(.commandVerify, tail).status == .invalidParameter)
        for bad in [#"{"certificate":"certificate for assigned-2"}"#, "{}", #"{"certificate":1}"#, "x"] {
            board = try waitingForCertificate()
            #expect(try board.deliver(bad, pieces: 200).last?.status == .invalidParameter)
            #expect(board.core.certificate == nil)
        }
        board = try waitingForCertificate()
        #expect(try board.claim(.commandVerify, head).status == .success)
        #expect(try board.deliver(good, pieces: 7).last?.status == .success)
        #expect(board.core.nodeID == Array("assigned-1".utf8))
    }

    @Test(
        "fragments outside of their text or of the buffer are refused",
        arguments: [
            (0, 10, 9, ClaimStatus.invalidParameter), (3000, 72, 4000, .noMemory), (3000, 71, 4000, .success),
            (UInt32.max, 1, .max, .invalidParameter), (0xFFFF_FF00, 16, .max, .noMemory), (0, 3072, 4000, .noMemory),
        ] as [(UInt32, Int, UInt32, ClaimStatus)])
    func fragments(offset: UInt32, length: Int, total: UInt32, status: ClaimStatus) throws {
        var board = board()
        _ = try board.claim(.commandStart)
        _ = try board.requestCertificate(node: "assigned-1")
        let buffer = PayloadBuffer(
            offset: offset, payload: [UInt8](repeating: 0x78, count: length), totalLength: total)
        #expect(try board.claim(.commandVerify, buffer).status == status)
    }

    @Test(
        "a board that restarts forgets session and claim, and is claimed the next time",
        arguments: [ClaimFault.Step.start, .initiate, .request, .certificate, .lastCertificate])
    func restart(step: ClaimFault.Step) throws {
        var board = board([.reboot(at: step)])
        #expect(throws: Refused.self) { try board.claimWhole() }
        let events = board.core.takeEvents()
        #expect(events.contains(.rebooted))
        #expect(board.core.certificate == nil && board.core.isServing)
        board.session += 1
        try board.claimWhole()
        #expect(board.core.nodeID == Array("assigned-1".utf8))
    }

    @Test("a faulty request is reported: too long, or for another node")
    func faultyRequest() throws {
        var board = board([.oversizeRequest, .wrongRequest])
        _ = try board.claim(.commandStart)
        #expect(try #require(try board.claim(.commandInit, .reply(node: "assigned-1")).buffer).totalLength > 3072)
        _ = try board.claim(.commandStart)
        let request = try board.requestCertificate(node: "assigned-1").text
        #expect(try JSONValue(parsing: request)["csr"]?.string?.hasSuffix("for assigned-1x\n") == true)
    }

    @Test("other messages are refused, and an unknown claim message fails with its number")
    func unknown() throws {
        var board = board()
        #expect(board.send([0xFF], .claim) == .refused)
        guard
            case .reply(let reply) = board.send(
                ClaimPayload(ClaimMessageType(rawValue: 8), .command(PayloadBuffer())).encoded(), .claim)
        else { throw Refused() }
        #expect(
            try ClaimPayload(decoding: reply)
                == ClaimPayload(ClaimMessageType(rawValue: 9), .response(PayloadResponse(status: .fail))))
    }
}

extension PayloadBuffer {
    fileprivate static func reply(node: String) -> PayloadBuffer {
        let text = Array(#"{"node_id":"\#(node)"}"#.utf8)
        return PayloadBuffer(payload: text, totalLength: UInt32(text.count))
    }
}

extension Board {
    /// One command, and the response that belongs to it.
    mutating func claim(
        _ type: ClaimMessageType, _ buffer: PayloadBuffer = PayloadBuffer()
    ) throws -> PayloadResponse<ClaimStatus> {
        guard case .reply(let reply) = send(ClaimPayload(type, .command(buffer)).encoded(), .claim) else {
            throw Refused()
        }
        let answer = try ClaimPayload(decoding: reply)
        guard answer.message.rawValue == type.rawValue + 1, case .response(let response)? = answer.payload else {
            throw Refused()
        }
        return response
    }

    mutating func requestCertificate(node: String) throws -> (text: [UInt8], fragments: [PayloadBuffer]) {
        var (text, fragments): ([UInt8], [PayloadBuffer]) = ([], [])
        repeat {
            let response = try claim(.commandInit, fragments.isEmpty ? .reply(node: node) : PayloadBuffer())
            guard response.status == .success, let fragment = response.buffer, fragment.offset == text.count else {
                throw Refused()
            }
            fragments.append(fragment)
            text += fragment.payload
        } while text.count < Int(fragments[0].totalLength)
        return (text, fragments)
    }

    mutating func deliver(_ text: String, pieces: Int) throws -> [PayloadResponse<ClaimStatus>] {
        let bytes = Array(text.utf8)
        var verdicts: [PayloadResponse<ClaimStatus>] = []
        for start in stride(from: 0, to: bytes.count, by: pieces) {
            let piece = Array(bytes[start..<min(start + pieces, bytes.count)])
            verdicts.append(
                try claim(
                    .commandVerify,
                    PayloadBuffer(offset: UInt32(start), payload: piece, totalLength: UInt32(bytes.count))))
        }
        return verdicts
    }

    mutating func claimWhole() throws {
        guard try claim(.commandStart).status == .success else { throw Refused() }
        _ = try requestCertificate(node: "assigned-1")
        guard try deliver(#"{"certificate":"certificate for assigned-1"}"#, pieces: 20).last?.status == .success else {
            throw Refused()
        }
    }
}
