// SPDX-License-Identifier: Apache-2.0
import Protocomm
import ProtocommCore
import RainKit

/// Protocomm over one TCP connection: ``Frame`` has the bytes.
actor TCPTransport: Transport {
    nonisolated let peer: String
    private let place: HostAndPort
    private var connection: ByteStream?
    private var received: [UInt8] = []
    private var isClosed = false

    init(to place: HostAndPort) {
        self.place = place
        peer = "\(place.host):\(place.port)"
    }

    nonisolated func maximumRequestLength(on endpoint: Endpoint) -> Int? { Frame.maximumRequestLength }

    func exchange(_ request: [UInt8], on endpoint: Endpoint) async throws(BoardError) -> [UInt8] {
        guard request.count <= Frame.maximumRequestLength else {
            throw BoardError(
                .tooLong, endpoint: endpoint, peer: peer, message: "The request is too long for the board.")
        }
        let frame: Frame.Answer
        do throws(ByteStreamError) {
            frame = try await answer(to: Frame.request(request, on: endpoint))
        } catch {
            // A late answer to this exchange must not be taken for the next one's.
            await connection?.close()
            (connection, received) = (nil, [])
            throw BoardError(code(error), endpoint: endpoint, peer: peer, message: error.message)
        }
        switch frame.status {
        case .answer: return frame.bytes
        case .refusal:
            throw BoardError(.refused, endpoint: endpoint, peer: peer, message: "The board refused the request.")
        case .noSuchEndpoint:
            throw BoardError(
                .noSuchEndpoint, endpoint: endpoint, peer: peer, message: "The board has no endpoint of that name.")
        }
    }

    func close() async {
        isClosed = true
        await connection?.close()
        connection = nil
    }

    private func answer(to request: [UInt8]) async throws(ByteStreamError) -> Frame.Answer {
        let connection = try await connected()
        try await connection.write(request)
        while true {
            if let answer = try Frame.answer(in: &received, from: peer) { return answer }
            received += try await connection.read()
        }
    }

    private func connected() async throws(ByteStreamError) -> ByteStream {
        if isClosed { throw ByteStreamError(.closed, peer: peer, message: "The transport was closed.") }
        if let connection { return connection }
        let opened = try await TCPConnection.open(host: place.host, port: UInt16(place.port))
        connection = opened
        return opened
    }

    private func code(_ error: ByteStreamError) -> BoardError.Code {
        switch error.code {
        case .notFound, .refused, .unreachable, .timedOut: .unreachable
        case .cancelled, .closed: .cancelled
        default: isClosed ? .cancelled : .lost
        }
    }
}
