// SPDX-License-Identifier: Apache-2.0
import Glibc
import RainIO
import Synchronization

/// The sockets of TLS connections that are being set up, so that another thread can end them.
///
/// OpenSSL's handshake reads for as long as there is something to read. A server that sends what a client has to skip (HelloRequest: RFC 5246,
/// section 7.4.1.1) faster than it is read keeps the driving thread in there without end, and that thread looks at neither deadlines nor
/// cancellations meanwhile. Shutting the socket down makes the kernel refuse what still comes, and the handshake fails.
final class ConnectingSockets: Sendable {
    /// Descriptors are the process's, and libcurl's connections live longer than the transfers and tables that began them.
    static let shared = ConnectingSockets()

    private struct Connecting {
        var ticket: TransferHandle
        var descriptors: [Int32]
        var timer: DeadlineTimer
    }

    /// As many as there are transfers that connect: few.
    private let all = Mutex<[Connecting]>([])

    /// How much later than the driving thread its deadline is enforced here, which is for a thread that cannot.
    private static let grace = Duration.milliseconds(100)

    /// A socket that was opened for a transfer. A host may have several addresses, so that there is more than one of them.
    func opened(_ descriptor: Int32, for pending: PendingTransfer) {
        let ticket = pending.ticket
        all.withLock { all in
            if let index = all.firstIndex(where: { $0.ticket === ticket }) {
                all[index].descriptors.append(descriptor)
            } else {
                let deadline = MonotonicDeadline.after(ContinuousClock.now.duration(to: pending.limit) + Self.grace)
                let timer = DeadlineTimer.start(at: deadline) { Self.shared.shutDown(ticket) }
                all.append(Connecting(ticket: ticket, descriptors: [descriptor], timer: timer))
            }
        }
    }

    /// Closes a socket, whether it is known here or not.
    func close(_ descriptor: Int32) -> Int32 {
        all.withLock { all in
            for index in all.indices { all[index].descriptors.removeAll { $0 == descriptor } }
        }
        return Glibc.close(descriptor)
    }

    /// The transfer's connection is there, or the transfer is over.
    func forget(_ ticket: TransferHandle) {
        all.withLock { all in
            guard let index = all.firstIndex(where: { $0.ticket === ticket }) else { return }
            all.remove(at: index).timer.cancel()
        }
    }

    /// Ends the connections that are being set up for a transfer. Those that libcurl has closed are not touched.
    func shutDown(_ ticket: TransferHandle) {
        all.withLock { all in
            guard let index = all.firstIndex(where: { $0.ticket === ticket }) else { return }
            for descriptor in all[index].descriptors { shutdown(descriptor, Int32(SHUT_RDWR)) }
        }
    }
}
