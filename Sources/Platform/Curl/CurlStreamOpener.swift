// SPDX-License-Identifier: Apache-2.0
import CRainCurl
import Glibc
import RainHTTP
import RainIO
import Synchronization

/// Opens connections with libcurl, with the certificates, proxies and limits of ``CurlHTTPClient``.
public struct CurlStreamOpener: StreamOpener {
    private let configuration: CurlConfiguration

    public init(_ configuration: CurlConfiguration = CurlConfiguration()) { self.configuration = configuration }

    public func open(_ url: String, within limit: Duration) async throws(ByteStreamError) -> ByteStream {
        let target: RequestTarget
        do throws(HTTPError) {
            target = try RequestTarget(url)
        } catch {
            throw ByteStreamError(.failed, peer: error.host, message: "\(error.message).")
        }
        let host = target.host
        let waiter = Waiter<Result<CurlSocket, ByteStreamError>>()
        let deadline = ContinuousClock.now + limit
        // libcurl cannot be interrupted while it connects. If the wait is cancelled, the thread is left running until its time limit.
        let failure = startThread { [configuration] in
            let result = CurlSocket.connected(to: url, target, configuration, until: deadline)
            if !waiter.resume(returning: result), case .success(let socket) = result { socket.close() }
        }
        guard failure == 0 else {
            throw ByteStreamError(
                .failed, peer: host, message: "The system could not start a thread.", systemError: failure)
        }
        let result = await waiter.value {
            waiter.resume(
                returning: .failure(ByteStreamError(.cancelled, peer: host, message: "The operation was cancelled.")))
        }
        return try ByteStream.socket(try result.get(), peer: host)
    }
}

/// A connection that libcurl has opened, and over which it sends and receives bytes.
///
/// `@unchecked` because only one thread at a time uses the handle: the one that connects, then the stream's.
private final class CurlSocket: LayeredSocket, @unchecked Sendable {
    private let easy: UnsafeMutableRawPointer
    let descriptor: Int32

    private init(_ easy: UnsafeMutableRawPointer, _ descriptor: Int32) {
        (self.easy, self.descriptor) = (easy, descriptor)
    }

    static func connected(
        to url: String, _ target: RequestTarget, _ configuration: CurlConfiguration,
        until deadline: ContinuousClock.Instant
    ) -> Result<CurlSocket, ByteStreamError> {
        guard let easy = Transfer.makeHandle(configuration) else {
            return .failure(ByteStreamError(.failed, peer: target.host, message: "libcurl could not create a handle."))
        }
        rk_curl_setopt_string(curl, easy, CURLOPT_URL, url)
        rk_curl_setopt_long(curl, easy, CURLOPT_CONNECT_ONLY, 1)
        rk_curl_setopt_prerequest(curl, easy, CURLOPT_PREREQFUNCTION, nil)
        // A WebSocket is opened by HTTP/1.1 (RFC 6455, 4.1), so the handshake must not choose another version.
        rk_curl_setopt_long(curl, easy, CURLOPT_HTTP_VERSION, Int(CURL_HTTP_VERSION_1_1))
        rk_curl_setopt_long(curl, easy, CURLOPT_HTTPPROXYTUNNEL, 1)
        if !target.mayUseProxy { rk_curl_setopt_string(curl, easy, CURLOPT_NOPROXY, "*") }
        rk_curl_setopt_long(curl, easy, CURLOPT_TIMEOUT_MS, Int(clamping: milliseconds(until: deadline)))
        let errorText = UnsafeMutablePointer<CChar>.allocate(capacity: Int(CURL_ERROR_SIZE))
        errorText.pointee = 0
        rk_curl_setopt_pointer(curl, easy, CURLOPT_ERRORBUFFER, errorText)
        let code = curl.pointee.easy_perform(easy)
        rk_curl_setopt_pointer(curl, easy, CURLOPT_ERRORBUFFER, nil)
        defer { errorText.deallocate() }
        var descriptor: curl_socket_t = -1
        guard code == CURLE_OK, rk_curl_getinfo_socket(curl, easy, &descriptor) == CURLE_OK, descriptor >= 0 else {
            var fault = TransferFault(code, easy, target, errorText: String(cString: errorText))
            fault.givenAuthorities = configuration.givenAuthorities
            let meaning = fault.meaning
            curl.pointee.easy_cleanup(easy)
            return .failure(
                ByteStreamError(
                    streamCode(meaning.code), peer: target.host,
                    message: "\(target.host) cannot be reached: \(meaning.message)."))
        }
        return .success(CurlSocket(easy, descriptor))
    }

    func receive(into buffer: UnsafeMutableRawBufferPointer) -> Int {
        var count = 0
        let code = curl.pointee.easy_recv(easy, buffer.baseAddress, buffer.count, &count)
        return Self.outcome(code, count)
    }

    func send(_ bytes: UnsafeRawBufferPointer) -> Int {
        var count = 0
        let code = curl.pointee.easy_send(easy, bytes.baseAddress, bytes.count, &count)
        return Self.outcome(code, count)
    }

    func close() { curl.pointee.easy_cleanup(easy) }

    /// Returns the result in the form of `recv(2)` and `send(2)`.
    private static func outcome(_ code: CURLcode, _ count: Int) -> Int {
        if code == CURLE_OK { return count }
        errno = code == CURLE_AGAIN ? EAGAIN : ECONNRESET
        return -1
    }
}

private func streamCode(_ code: HTTPError.Code) -> ByteStreamError.Code {
    switch code {
    case .unresolved: .notFound
    case .unreachable, .proxy, .proxyRefused: .refused
    case .timeout: .timedOut
    case .tls: .untrusted
    case .closed: .lost
    default: .failed
    }
}
