// SPDX-License-Identifier: Apache-2.0
import Glibc

/// Opens one connected socket, on a thread that may block.
struct TCPAttempt: Sendable {
    let host: String
    let port: UInt16
    let deadline: MonotonicDeadline

    var peer: String { host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)" }

    /// - Parameter interrupt: readable once the caller has stopped waiting.
    func run(_ interrupt: WakePipe) -> Result<Int32, ByteStreamError> {
        let addresses: [SocketAddress]
        switch HostLookup.addresses(of: host, port: port, until: deadline, interrupt: interrupt) {
        case .success(let found)?: addresses = found
        case .failure(let failure)?:
            return .failure(error(.notFound, "The name \(host) has no address: \(failure.text)."))
        case nil: return .failure(isInterrupted(interrupt) ? cancelled : late)
        }
        var last = error(.notFound, "The name \(host) has no address.")
        for (index, address) in addresses.enumerated() {
            let share = deadline.left / (addresses.count - index)
            switch connect(to: address, until: min(deadline, .after(share)), interrupt) {
            case .success(let socket): return .success(socket)
            case .failure(let error) where error.code == .cancelled: return .failure(error)
            case .failure(let error): last = error
            }
        }
        return .failure(last)
    }

    private func connect(
        to address: SocketAddress, until deadline: MonotonicDeadline, _ interrupt: WakePipe
    ) -> Result<Int32, ByteStreamError> {
        let type = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue)
        let descriptor = socket(address.family, type, 0)
        guard descriptor >= 0 else { return .failure(failed(errno)) }
        if let error = finish(descriptor, connectingTo: address, until: deadline, interrupt) {
            close(descriptor)
            return .failure(error)
        }
        // Most writes are whole messages, so holding them back for more bytes would only delay them.
        var one: Int32 = 1
        setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &one, socklen_t(MemoryLayout<Int32>.size))
        return .success(descriptor)
    }

    private func finish(
        _ descriptor: Int32, connectingTo address: SocketAddress, until deadline: MonotonicDeadline,
        _ interrupt: WakePipe
    ) -> ByteStreamError? {
        if address.with({ Glibc.connect(descriptor, $0, $1) }) == 0 { return nil }
        guard errno == EINPROGRESS || errno == EINTR else { return failed(errno) }
        var polled: [PollEntry] = [.readable(interrupt.reader), .writable(descriptor)]
        switch pollDescriptors(&polled, until: deadline) {
        case .failed(let code): return failed(code)
        case .timedOut: return late
        case .ready: break
        }
        if polled[0].isReady { return cancelled }
        var code: Int32 = 0
        var size = socklen_t(MemoryLayout<Int32>.size)
        getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &code, &size)
        return code == 0 ? nil : failed(code)
    }
}

extension TCPAttempt {
    func failed(_ code: Int32) -> ByteStreamError {
        switch code {
        case ECONNREFUSED:
            error(.refused, "Nothing listens there. Check the port, and whether the program there is running.", code)
        case ENETUNREACH, EHOSTUNREACH, ENETDOWN, EHOSTDOWN:
            error(.unreachable, "There is no way to this host. Check the network, and the address.", code)
        case ETIMEDOUT: late
        default: error(.failed, "The connection could not be opened: \(errorText(code)).", code)
        }
    }

    private var late: ByteStreamError {
        error(.timedOut, "The host did not answer in time. Check the address, and whether it is switched on.")
    }

    private var cancelled: ByteStreamError { error(.cancelled, "The operation was cancelled.") }

    private func error(_ code: ByteStreamError.Code, _ message: String, _ number: Int32? = nil) -> ByteStreamError {
        ByteStreamError(code, peer: peer, message: message, systemError: number)
    }

    private func isInterrupted(_ interrupt: WakePipe) -> Bool {
        pollDescriptor(interrupt.reader, for: .readable, until: .after(.zero))
    }
}
