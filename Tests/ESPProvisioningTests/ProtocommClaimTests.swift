// SPDX-License-Identifier: Apache-2.0
import Logging
import Protocomm
import ProtocommCore
import Synchronization
import TestSupport
import Testing

@testable import ESPProvisioning

/// Claiming over a session: the messages to the board, and the message if the claim fails.
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

    /// The same, but from the `number`th of those messages on the board answers so many `times` like this, or with nothing.
    private func firmware(
        at type: ClaimMessageType, _ number: Int = 1, times: Int = 1, answers answer: ClaimPayload?
    ) -> ScriptedFirmware {
        let seen = Mutex(0)
        return firmware { message in
            guard message.message == type else { return nil }
            let count = seen.withLock { seen -> Int in
                seen += 1
                return seen
            }
            return (number..<number + times).contains(count) ? .some(answer) : nil
        }
    }

    private func messages(_ firmware: ScriptedFirmware) -> [ClaimMessageType] {
        firmware.bytes(on: .claim).compactMap { try? ClaimPayload(decoding: $0).message }
    }

    private func claim(_ board: some Board) async throws(BoardError) {
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

    @Test("a handshake that a restarting board refuses interrupts the claim, which may begin again")
    func refusedHandshake() async throws {
        let firmware = firmware()
        let seen = Mutex((handshakes: 0, claims: 0))
        let board = firmware.board(restoresLinks: true) { _, endpoint in
            seen.withLock { seen in
                if endpoint == .session { seen.handshakes += 1 }
                if endpoint == .claim { seen.claims += 1 }
                if endpoint == .claim, seen.claims == 1 { return .fail(.lost) }
                return endpoint == .session && seen.handshakes == 2 ? .refuse : nil
            }
        }
        _ = try await board.identify()
        try await board.secure()
        let error = await #expect(throws: BoardError.self) { _ = try await board.startClaim() }
        #expect(error?.code == .claimInterrupted, "\(String(describing: error))")
        _ = try await board.startClaim()
    }

    @Test("a lost piece is an error, and the board is informed")
    func gap() async throws {
        let buffer = PayloadBuffer(offset: 400, payload: [1], totalLength: UInt32(Self.request.count))
        let firmware = firmware(
            at: .commandInit, 2, answers: ClaimPayload(.responseInit, .response(PayloadResponse(buffer: buffer))))
        let board = firmware.board()
        let error = await #expect(throws: BoardError.self) { try await claim(board) }
        #expect(error?.code == .claimFailed)
        #expect(error?.message.contains("estart") == true)
        #expect(messages(firmware) == [.commandStart, .commandInit, .commandInit, .commandAbort])
        // Once is enough: firmware frees the claim with the first.
        #expect(await board.abortClaim() == false)
        #expect(messages(firmware).filter { $0 == .commandAbort }.count == 1)
    }

    @Test(
        "a board that breaks off, as by a restart, gets no message: it waits for a claim, and the next one succeeds",
        arguments: [
            (ClaimMessageType.commandStart, 1), (.commandInit, 1), (.commandInit, 2), (.commandVerify, 1),
            (.commandVerify, 2), (.commandVerify, 3),
        ])
    func restart(type: ClaimMessageType, number: Int) async throws {
        let firmware = firmware(at: type, number, answers: nil)
        let board = firmware.board()
        let error = await #expect(throws: BoardError.self) { try await claim(board) }
        #expect(error?.code == .claimFailed)
        #expect(error?.message.contains("estart") == true)
        #expect(!messages(firmware).contains(.commandAbort))
        try await claim(board)
        #expect(firmware.asked.filter { $0 == .session }.count == 2)
    }

    @Test("a board that takes no claim is not told of its end", arguments: [ClaimStatus.invalidState, .fail])
    func notReady(status: ClaimStatus) async throws {
        let firmware = firmware(
            at: .commandStart, answers: ClaimPayload(.responseStart, .response(PayloadResponse(status: status))))
        let error = await #expect(throws: BoardError.self) { try await claim(firmware.board()) }
        #expect(error?.code == .claimFailed && error?.message.contains("estart") == true)
        #expect(messages(firmware) == [.commandStart])
    }

    /// Firmware takes the failed piece for the end of the claim, and so does it the one that it stores.
    @Test("a refused certificate has ended the claim at the board, which is not told so again")
    func refusedCertificate() async throws {
        let firmware = firmware(
            at: .commandVerify, 3,
            answers: ClaimPayload(.responseVerify, .response(PayloadResponse(status: .invalidParameter))))
        let error = await #expect(throws: BoardError.self) { try await claim(firmware.board()) }
        #expect(error?.code == .claimFailed && error?.message.contains("estart") == true)
        #expect(messages(firmware).suffix(3) == [.commandVerify, .commandVerify, .commandVerify])
    }

    /// One introduction, three pieces of the request, three of the certificate.
    @Test("over links that break and come back every piece may be asked again but the last", arguments: 1...7)
    func brokenLink(number: Int) async throws {
        let firmware = firmware()
        let count = Mutex(0)
        let board = firmware.board(restoresLinks: true) { _, endpoint in
            guard endpoint == .claim else { return nil }
            let isIt = count.withLock { count -> Bool in
                count += 1
                return count == number
            }
            return isIt ? .fail(.lost) : nil
        }
        let error: BoardError?
        do throws(BoardError) {
            try await claim(board)
            error = nil
        } catch let thrown {
            error = thrown
        }
        let asked = messages(firmware)
        #expect(!asked.contains(.commandAbort))
        // What broke the link here did not reach the board, which the client cannot know.
        #expect(asked.filter { $0 == .commandVerify }.count == (number < 7 ? 3 : 2))
        #expect(error?.code == (number < 7 ? nil : .claimFailed))
        #expect(error == nil || error?.message.contains("estart") == true)
    }

    @Test("over such links a refusal at the start is taken for a broken link once, and then for what it is")
    func takesNoClaim() async throws {
        let firmware = firmware(at: .commandStart, times: 2, answers: nil)
        let board = firmware.board(restoresLinks: true)
        let first = await #expect(throws: BoardError.self) { try await claim(board) }
        #expect(first?.code == .claimInterrupted)
        let second = await #expect(throws: BoardError.self) { try await claim(board) }
        #expect(second?.code == .claimFailed && second?.message.contains("estart") == true)
        #expect(messages(firmware) == [.commandStart, .commandStart])
        try await claim(board)
    }

    @Test("a board that was not begun with has nothing to abort, and takes no reply")
    func order() async throws {
        let firmware = firmware()
        let board = firmware.board()
        _ = try await board.identify()
        try await board.secure()
        await board.abortClaim()
        await #expect(throws: BoardError.self) { try await board.requestCertificate(Self.reply) }
        await #expect(throws: BoardError.self) { try await board.storeCertificate(Self.reply) }
        #expect(messages(firmware).isEmpty)
    }

    @Test("a transport with short lines is refused before anything of the claim is sent")
    func shortLines() async throws {
        let firmware = firmware()
        let board = firmware.board(maximumRequestLength: 119)
        let error = await #expect(throws: BoardError.self) { try await claim(board) }
        #expect(error?.code == .unsupported)
        #expect(messages(firmware).isEmpty)
    }
}
