// SPDX-License-Identifier: Apache-2.0
import ESPProvisioning
import Protocomm
import RainKit

/// Boards that are reached over TCP: `tcp:HOST:PORT`.
public struct TCPBoards: BoardTransport {
    public let scheme = "tcp"
    public let options: [BoardOption] = [.location("device-host")]

    public init() {}

    public func board(at address: BoardAddress, _ opening: BoardOpening) async throws(BoardError) -> any Board {
        guard let location = address.location else {
            throw BoardError(.invalidArgument, message: "A board over TCP needs a host.", remedies: [.host])
        }
        return opening.protocommBoard(over: TCPTransport(to: try HostAndPort(location, usual: 5555)))
    }
}

/// Returns the transport alone, for other programs and for the conformance suite.
public func tcpTransport(to location: String) throws -> any Transport { TCPTransport(to: try HostAndPort(location)) }
