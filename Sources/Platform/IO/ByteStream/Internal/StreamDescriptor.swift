// SPDX-License-Identifier: Apache-2.0
import Glibc

/// The kinds of descriptor that a stream can use.
enum StreamDescriptor: Sendable {
    case socket(Int32)
    case terminal(Int32, close: @Sendable (_ hasUnsent: Bool) -> Void)
    case layered(any LayeredSocket)

    var number: Int32 {
        switch self {
        case .socket(let number), .terminal(let number, _): number
        case .layered(let socket): socket.descriptor
        }
    }

    /// Whether the other side can be made to wait: otherwise the oldest input goes when there is too much.
    var holdsBackInput: Bool { if case .terminal = self { false } else { true } }

    /// Whether bytes may be there although the descriptor is not readable, since the layer above it has read them already.
    var mayHoldInput: Bool { if case .layered = self { true } else { false } }

    /// Neither blocks nor raises SIGPIPE.
    func write(_ bytes: ArraySlice<UInt8>) -> Int {
        bytes.withUnsafeBytes { buffer in
            switch self {
            case .socket(let number):
                send(number, buffer.baseAddress, buffer.count, Int32(MSG_NOSIGNAL) | Int32(MSG_DONTWAIT))
            case .terminal(let number, _): Glibc.write(number, buffer.baseAddress, buffer.count)
            case .layered(let socket): socket.send(buffer)
            }
        }
    }

    func read(into buffer: inout [UInt8]) -> Int {
        switch self {
        case .socket(let number): recv(number, &buffer, buffer.count, Int32(MSG_DONTWAIT))
        case .terminal(let number, _): Glibc.read(number, &buffer, buffer.count)
        case .layered(let socket): buffer.withUnsafeMutableBytes { socket.receive(into: $0) }
        }
    }

    func close(hasUnsent: Bool) {
        switch self {
        case .socket(let number): Glibc.close(number)
        case .terminal(_, let close): close(hasUnsent)
        case .layered(let socket): socket.close()
        }
    }
}

func errorText(_ code: Int32) -> String { String(cString: strerror(code)) }
