import ESPProvisioning
import Logging
import Protocomm
import ProtocommWire
import Synchronization
import TestSupport
import Testing

@testable import ESPProvisioning

/// Claiming over a session: what goes to the board, and that it is told when it comes to nothing.
@Suite("Claiming a board")
struct ProtocommClaimTests {
    private static let reply = Array(#"{"node_id":"assigned"}"#.utf8)
    private static let request = [UInt8](repeating: 0x72, count: 450)

    /// Plays a board that is claimed without fault, except where `fault` answers in its place.
    private func firmware(
        _ fault: @escaping @Sendable (ClaimPayload) -> ClaimPayload?? = { _ in nil }
    ) -> ScriptedFirmware {
        let cursor = Mutex(0)
        return ScriptedFirmware { bytes, endpoint in
            guard endpoint == .claim, let message = try? ClaimPayload(decoding: bytes) else { return nil }
            if let answer = fault(message) { return answer?.encoded() }
            var buffer = PayloadBuffer()
            switch message.message {
            case .commandStart:
                cursor.withLock { $0 = 0 }
                buffer = PayloadBuffer(payload: [0x7B, 0x7D], totalLength: 2)
            case .commandInit:
                buffer = cursor.withLock { start in
                    let end = min(start + 200, Self.request.count)
                    defer { start = end }
                    return PayloadBuffer(
                        offset: UInt32(start), payload: Array(Self.request[start..<end]),
                        totalLength: UInt32(Self.request.count))
                }
            default: break
            }
            let type = ClaimMessageType(rawValue: message.message.rawValue + 1)
            return ClaimPayload(type, .response(PayloadResponse(buffer: buffer))).encoded()
        }
    }

    private func messages(_ firmware: ScriptedFirmware) -> [ClaimMessageType] {
        firmware.bytes(on: .claim).compactMap { try? ClaimPayload(decoding: $0).message }
    }

    private func claim(_ board: some Board) async throws(ProvisioningError) {
        _ = try await board.identify()
        try await board.secure()
        do {
            _ = try await board.startClaim()
            let request = try await board.requestCertificate(Self.reply)
            #expect(request == Self.request)
            try await board.storeCertificate([UInt8](repeating: 0x63, count: 401))
        } catch {
            await board.abortClaim()
            throw error
        }
    }

    @Test("a claim takes as many exchanges as it has pieces, and is not aborted")
    func success() async throws {
        let firmware = firmware()
        let board = firmware.board()
        try await claim(board)
        await board.abortClaim()
        #expect(
            messages(firmware) == [
                .commandStart, .commandInit, .commandInit, .commandInit, .commandVerify, .commandVerify, .commandVerify,
            ])
    }

    @Test("a lost piece is an error, and the board is told")
    func gap() async throws {
        let seen = Mutex(0)
        let firmware = firmware { message in
            guard message.message == .commandInit,
                seen.withLock({ seen -> Int in
                    seen += 1
                    return seen
                }) == 2
            else { return nil }
            let buffer = PayloadBuffer(offset: 400, payload: [1], totalLength: UInt32(Self.request.count))
            return .some(ClaimPayload(.responseInit, .response(PayloadResponse(buffer: buffer))))
        }
        let board = firmware.board()
        let error = await #expect(throws: ProvisioningError.self) { try await claim(board) }
        #expect(error?.code == .claimFailed)
        #expect(messages(firmware) == [.commandStart, .commandInit, .commandInit, .commandAbort])
        // The next try begins at the beginning, and succeeds.
        try await claim(board)
    }

    @Test("a board that restarts gets a new session, and in it the end of the claim")
    func restart() async throws {
        let isDown = Mutex(true)
        let firmware = firmware { message in
            guard message.message == .commandVerify,
                isDown.withLock({ isDown -> Bool in
                    defer { isDown = false }
                    return isDown
                })
            else {
                return nil
            }
            return .some(nil)
        }
        let board = firmware.board()
        let error = await #expect(throws: ProvisioningError.self) { try await claim(board) }
        #expect(error?.code == .claimFailed)
        #expect(messages(firmware).last == .commandAbort)
        #expect(firmware.asked.filter { $0 == .session }.count == 2)
        try await claim(board)
    }

    @Test("a board that was not begun with has nothing to abort, and takes no reply")
    func order() async throws {
        let firmware = firmware()
        let board = firmware.board()
        _ = try await board.identify()
        try await board.secure()
        await board.abortClaim()
        await #expect(throws: ProvisioningError.self) { try await board.requestCertificate(Self.reply) }
        await #expect(throws: ProvisioningError.self) { try await board.storeCertificate(Self.reply) }
        #expect(messages(firmware).isEmpty)
    }

    @Test("a transport with short lines is refused before anything of the claim is sent")
    func shortLines() async throws {
        let firmware = firmware()
        let board = firmware.board(maximumRequestLength: 119)
        let error = await #expect(throws: ProvisioningError.self) { try await claim(board) }
        #expect(error?.code == .unsupported)
        #expect(messages(firmware).isEmpty)
    }
}
