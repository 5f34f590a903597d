// SPDX-License-Identifier: Apache-2.0
import RainCore
import Glibc
import Synchronization

/// Opens TCP connections.
public enum TCPConnection {
    /// Connects to `port` of `host`, which is a name or an IPv4 or IPv6 address. If there are several addresses, the first that answers is
    /// used; each gets its share of the time left.
    ///
    /// Throws `notFound` (the name has no address), `refused`, `unreachable`, `timedOut`, `cancelled` or `failed`.
    ///
    /// - Parameter limit: for everything, including the name lookup.
    public static func open(
        host: String, port: UInt16, within limit: Duration = .seconds(10)
    ) async throws(ByteStreamError) -> ByteStream {
        let attempt = TCPAttempt(host: host, port: port, deadline: .after(limit))
        let result: Result<Int32, ByteStreamError>
        do throws(ThreadError) {
            result = try await onInterruptibleThread { attempt.run($0) }
        } catch {
            switch error {
            case .noPipe(let code), .noThread(let code): throw attempt.failed(code)
            }
        }
        return try ByteStream.socket(try result.get(), peer: attempt.peer)
    }
}

/// Opens one connected socket, on a thread that may block.
struct TCPAttempt: Sendable {
    let host: String
    let port: UInt16
    let deadline: MonotonicDeadline

    var peer: String { host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)" }

    /// - Parameter interrupt: becomes readable when the caller stops waiting.
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
        // Most writes are whole messages. Holding them back for more bytes would only delay them.
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
            error(
                .refused,
                "Nothing listens on this port. Check the port, and whether the program on that host is running.", code)
        case ENETUNREACH, EHOSTUNREACH, ENETDOWN, EHOSTDOWN:
            error(.unreachable, "There is no route to this host. Check the network, and the address.", code)
        case ETIMEDOUT: late
        default: error(.failed, "The connection could not be opened: \(systemErrorText(code)).", code)
        }
    }

    private var late: ByteStreamError {
        error(.timedOut, "The host did not answer in time. Check the address, and whether the host is switched on.")
    }

    private var cancelled: ByteStreamError { error(.cancelled, "The operation was cancelled.") }

    private func error(_ code: ByteStreamError.Code, _ message: String, _ number: Int32? = nil) -> ByteStreamError {
        ByteStreamError(code, peer: peer, message: message, systemError: number)
    }

    private func isInterrupted(_ interrupt: WakePipe) -> Bool {
        pollDescriptor(interrupt.reader, for: .readable, until: .after(.zero))
    }
}

/// Looks up a host's name on its own thread. Nothing can interrupt the system's resolver. So when the time is over or the wait is
/// cancelled, the thread is left running; it ends with the resolver's answer.
final class HostLookup: Sendable {
    private let result = Mutex<Result<[SocketAddress], LookupFailure>?>(nil)
    private let wakeup: WakePipe

    private init(_ wakeup: WakePipe) { self.wakeup = wakeup }

    /// Blocks the thread. Returns nil if it was interrupted, the time was over, or the system could not create a pipe or a thread.
    static func addresses(
        of host: String, port: UInt16, until deadline: MonotonicDeadline, interrupt: WakePipe
    ) -> Result<[SocketAddress], LookupFailure>? {
        if case .success(let addresses) = SocketAddress.resolve(host, port: port, onlyFigures: true) {
            return .success(addresses)
        }
        guard let wakeup = WakePipe() else { return nil }
        let lookup = HostLookup(wakeup)
        let failure = startThread {
            let found = SocketAddress.resolve(host, port: port, onlyFigures: false)
            lookup.result.withLock { $0 = found }
            lookup.wakeup.ring()
        }
        guard failure == 0 else { return nil }
        var polled: [PollEntry] = [.readable(wakeup.reader), .readable(interrupt.reader)]
        _ = pollDescriptors(&polled, until: deadline)
        return lookup.result.withLock { $0 }
    }
}

/// An IPv4 or IPv6 address with a port, in the form that system calls take.
struct SocketAddress: Sendable {
    let family: Int32
    private let bytes: [UInt8]

    /// Runs `call` with the address, for example `connect(2)`.
    func with<Result>(_ call: (UnsafePointer<sockaddr>, socklen_t) -> Result) -> Result {
        bytes.withUnsafeBytes { buffer in
            call(buffer.baseAddress!.assumingMemoryBound(to: sockaddr.self), socklen_t(buffer.count))
        }
    }

    /// Asks the system's resolver. It blocks for a name, but not for a numeric address.
    ///
    /// - Parameter onlyFigures: accepts only numeric addresses, such as `192.168.4.1` and `fe80::1%eth0`.
    static func resolve(_ host: String, port: UInt16, onlyFigures: Bool) -> Result<[SocketAddress], LookupFailure> {
        var hints = addrinfo()
        hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        hints.ai_flags = AI_NUMERICSERV | (onlyFigures ? AI_NUMERICHOST : AI_ADDRCONFIG)
        var list: UnsafeMutablePointer<addrinfo>?
        let code = getaddrinfo(host, String(port), &hints, &list)
        guard code == 0 else { return .failure(LookupFailure(code: code)) }
        defer { freeaddrinfo(list) }
        var addresses: [SocketAddress] = []
        var next = list
        while let entry = next?.pointee {
            if let address = entry.ai_addr {
                let bytes = UnsafeRawBufferPointer(start: address, count: Int(entry.ai_addrlen))
                addresses.append(SocketAddress(family: entry.ai_family, bytes: Array(bytes)))
            }
            next = entry.ai_next
        }
        return .success(addresses)
    }
}

/// Why a name has no address: an error of `getaddrinfo(3)`.
struct LookupFailure: Error {
    let code: Int32
    var text: String { String(cString: gai_strerror(code)) }
}
