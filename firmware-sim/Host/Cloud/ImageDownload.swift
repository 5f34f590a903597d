// SPDX-License-Identifier: Apache-2.0
import Glibc
import RainCore
import RainIO
import Synchronization

/// Downloads the images of a board's updates, on a thread of its own: one at a time, by HTTP without TLS, as the simulated cloud serves them.
final class ImageDownload: EventSource {
    private let board: Board
    private let call = BackgroundCall()
    private var result: Box?

    /// The thread's result.
    private final class Box: Sendable {
        let download = Mutex(SimulatedUpdate.Download.noImage("ESP_FAIL (errno=0: Invalid)"))
    }

    init(_ board: Board) { self.board = board }

    var interests: [Interest] { call.descriptor.map { [Interest(descriptor: $0, events: Int16(POLLIN))] } ?? [] }
    var due: UInt64? { result == nil && board.wantedImage != nil ? 0 : nil }

    func ready(_ descriptor: Int32, events: Int16, now: UInt64) {
        _ = call.result()
        let download = result?.download.withLock(\.self)
        result = nil
        if let download { board.downloaded(download, now: now) }
    }

    func wake(now: UInt64) {
        guard result == nil, let url = board.takeWantedImage() else { return }
        let box = Box()
        result = box
        let isUnderWay = call.start {
            let download = HTTPDownload.image(from: url)
            box.download.withLock { $0 = download }
            return 0
        }
        if !isUnderWay {
            result = nil
            board.downloaded(.noImage("ESP_ERR_NO_MEM (errno=\(errno): \(systemErrorText(errno)))"), now: now)
        }
    }

    func shutDown() {}
}

/// One request for an image, with blocking calls.
private enum HTTPDownload {
    /// More than any flash of such a board holds.
    private static let limit = 16 << 20
    private static let headLimit = 16 << 10
    /// `ESP_RMAKER_HTTPS_OTA_TIMEOUT_MS`
    private static let timeout = 5

    static func image(from url: String) -> SimulatedUpdate.Download {
        guard let address = Address(url) else { return failure(0, "ESP_ERR_INVALID_ARG") }
        let descriptor = connect(to: address)
        guard descriptor >= 0 else { return failure(errno, "ESP_ERR_HTTP_CONNECT") }
        defer { close(descriptor) }
        let request = "GET \(address.path) HTTP/1.1\r\nHost: \(address.authority)\r\nConnection: close\r\n\r\n"
        let bytes = Array(request.utf8)
        guard send(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL)) == bytes.count else {
            return failure(errno, "ESP_ERR_HTTP_WRITE_DATA")
        }
        return answer(on: descriptor)
    }

    private static func failure(_ number: Int32, _ name: String) -> SimulatedUpdate.Download {
        .noImage("\(name) (errno=\(number): \(number == 0 ? "Invalid" : systemErrorText(number)))")
    }

    private struct Address {
        var host: String
        var port: String
        var path: String
        var authority: String

        init?(_ url: String) {
            let scheme = "http://"
            guard url.hasPrefix(scheme), url.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else { return nil }
            let rest = url.dropFirst(scheme.count)
            authority = String(rest.prefix { $0 != "/" && $0 != "?" })
            path = String(rest.dropFirst(authority.count))
            if !path.hasPrefix("/") { path = "/" + path }
            let parts = authority.split(separator: ":", maxSplits: 1)
            guard let first = parts.first else { return nil }
            (host, port) = (String(first), parts.count == 2 ? String(parts[1]) : "80")
        }
    }

    private static func connect(to address: Address) -> Int32 {
        var hints = addrinfo()
        hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        var found: UnsafeMutablePointer<addrinfo>?
        guard getaddrinfo(address.host, address.port, &hints, &found) == 0, let first = found?.pointee else {
            errno = EHOSTUNREACH
            return -1
        }
        defer { freeaddrinfo(found) }
        let descriptor = socket(first.ai_family, first.ai_socktype | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { return -1 }
        var limit = timeval(tv_sec: timeout, tv_usec: 0)
        for option in [SO_RCVTIMEO, SO_SNDTIMEO] {
            setsockopt(descriptor, SOL_SOCKET, option, &limit, socklen_t(MemoryLayout<timeval>.size))
        }
        guard Glibc.connect(descriptor, first.ai_addr, first.ai_addrlen) == 0 else {
            let reason = errno
            close(descriptor)
            errno = reason
            return -1
        }
        return descriptor
    }

    /// Reads the head and the announced number of bytes.
    private static func answer(on descriptor: Int32) -> SimulatedUpdate.Download {
        var received: [UInt8] = []
        var body: (start: Int, end: Int)?
        while body.map({ received.count < $0.end }) ?? true {
            var part = [UInt8](repeating: 0, count: 64 << 10)
            let count = recv(descriptor, &part, part.count, 0)
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { break }
            received += part.prefix(count)
            guard body == nil else { continue }
            let end = (0..<max(0, min(received.count, headLimit) - 3)).first {
                received[$0..<$0 + 4].elementsEqual([0x0D, 0x0A, 0x0D, 0x0A])
            }
            guard let end else {
                if received.count > headLimit { return failure(0, "ESP_FAIL") }
                continue
            }
            guard let length = length(of: received[..<end]), (0...limit).contains(length) else {
                return failure(0, "ESP_FAIL")
            }
            body = (end + 4, end + 4 + length)
        }
        guard let body else { return failure(0, "ESP_ERR_HTTP_FETCH_HEADER") }
        return received.count < body.end
            ? .broken(Array(received[min(body.start, received.count)...]))
            : .complete(Array(received[body.start..<body.end]))
    }

    /// Returns nil unless the status is 200 and the length is announced.
    private static func length(of head: ArraySlice<UInt8>) -> Int? {
        let lines = String(decoding: head, as: UTF8.self).split(separator: "\r\n")
        let words = lines.first?.split(separator: " ")
        guard let words, words.count > 1, words[0].hasPrefix("HTTP/1."), words[1] == "200" else { return nil }
        let name = "content-length:"
        let line = lines.first { $0.lowercased().hasPrefix(name) }
        return line.flatMap { Int($0.dropFirst(name.count).drop { $0 == " " }) }
    }
}
