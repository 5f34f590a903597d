// SPDX-License-Identifier: Apache-2.0
import CRainCurl
import Glibc
import RainHTTP

/// An easy handle of libcurl, and all objects that must live as long as the handle.
final class Transfer {
    let easy: UnsafeMutableRawPointer
    let pending: PendingTransfer
    private var headerList: UnsafeMutablePointer<curl_slist>?
    private let body: UnsafeMutableBufferPointer<UInt8>
    private let errorText: UnsafeMutableBufferPointer<CChar>

    let began = ContinuousClock.now

    /// How much later than the table libcurl would end a transfer.
    private static let graceMilliseconds: Int64 = 1000

    private var received = ReceivedResponse()
    private var attempts = 0
    private var refusal: HTTPError?
    /// The number of sent bytes that was last reported.
    private var told = 0
    /// The addresses to which a connection was begun.
    private var addresses: [String] = []
    private let overrides: CurlConfiguration.Overrides?
    private let givenAuthorities: String?
    private var resolvedList: UnsafeMutablePointer<curl_slist>?

    init(
        _ pending: PendingTransfer, easy: UnsafeMutableRawPointer, share: UnsafeMutableRawPointer?,
        _ configuration: CurlConfiguration
    ) {
        overrides = configuration.overrides
        givenAuthorities = configuration.givenAuthorities
        self.easy = easy
        self.pending = pending
        body = .allocate(capacity: pending.request.body.count)
        _ = body.initialize(from: pending.request.body)
        errorText = .allocate(capacity: Int(CURL_ERROR_SIZE))
        errorText[0] = 0
        configure(share: share)
    }

    /// Removes all settings from the handle, so that the next transfer can use it.
    func cleanUp() {
        rk_curl_setopt_pointer(curl, easy, CURLOPT_HTTPHEADER, nil)
        rk_curl_setopt_pointer(curl, easy, CURLOPT_POSTFIELDS, nil)
        rk_curl_setopt_pointer(curl, easy, CURLOPT_ERRORBUFFER, nil)
        rk_curl_setopt_pointer(curl, easy, CURLOPT_OPENSOCKETDATA, nil)
        long(CURLOPT_NOPROGRESS, 1)
        curl.pointee.slist_free_all(headerList)
        if overrides != nil {
            rk_curl_setopt_pointer(curl, easy, CURLOPT_RESOLVE, nil)
            curl.pointee.slist_free_all(resolvedList)
        }
        for index in body.indices { body[index] = 0 }
        body.deallocate()
        errorText.deallocate()
    }

    /// Whether the transfer may share a connection to that host with others.
    func isPooled(to host: String) -> Bool { pending.request.connection == .pooled && pending.target.host == host }

    /// Prevents the use of an existing connection.
    func keepApart() { long(CURLOPT_FRESH_CONNECT, 1) }

    /// Prevents later use of its connection. Otherwise libcurl keeps an HTTP/2 connection for other transfers, whatever the outcome of this
    /// transfer.
    func leaveNoConnection() { long(CURLOPT_FORBID_REUSE, 1) }

    // MARK: Options

    /// Makes a handle with the settings that are the same for every request of a client.
    static func makeHandle(_ configuration: CurlConfiguration) -> UnsafeMutableRawPointer? {
        guard let easy = curl.pointee.easy_init() else { return nil }
        rk_curl_setopt_string(curl, easy, CURLOPT_PROTOCOLS_STR, "http,https")
        rk_curl_setopt_long(curl, easy, CURLOPT_FOLLOWLOCATION, 0)
        rk_curl_setopt_long(curl, easy, CURLOPT_NOSIGNAL, 1)
        // Otherwise a cancellation during a slow name lookup would block the thread and all other transfers.
        rk_curl_setopt_long(curl, easy, CURLOPT_QUICK_EXIT, 1)
        rk_curl_setopt_long(curl, easy, CURLOPT_SUPPRESS_CONNECT_HEADERS, 1)

        rk_curl_setopt_long(curl, easy, CURLOPT_SSL_VERIFYPEER, 1)
        rk_curl_setopt_long(curl, easy, CURLOPT_SSL_VERIFYHOST, 2)
        rk_curl_setopt_long(curl, easy, CURLOPT_SSLVERSION, Int(CURL_SSLVERSION_TLSv1_2))
        if configuration.certificateAuthorities != nil || configuration.certificateAuthorityFolder != nil {
            optionalString(easy, CURLOPT_CAINFO, configuration.certificateAuthorities)
            optionalString(easy, CURLOPT_CAPATH, configuration.certificateAuthorityFolder)
        }

        rk_curl_setopt_transfer(curl, easy, CURLOPT_WRITEFUNCTION, takeBody)
        rk_curl_setopt_transfer(curl, easy, CURLOPT_HEADERFUNCTION, takeHeader)
        rk_curl_setopt_open_socket(curl, easy, openPrivateSocket)
        rk_curl_setopt_close_socket(curl, easy, closeSocket)
        rk_curl_setopt_prerequest(curl, easy, CURLOPT_PREREQFUNCTION, aboutToSend)
        return easy
    }

    private func configure(share: UnsafeMutableRawPointer?) {
        let request = pending.request
        string(CURLOPT_URL, request.url)
        // The table enforces the deadline. libcurl uses this timeout to divide the time among a host's addresses.
        long(CURLOPT_TIMEOUT_MS, Int(clamping: milliseconds(until: pending.limit) + Self.graceMilliseconds))
        Self.optionalString(easy, CURLOPT_NOPROXY, pending.target.mayUseProxy ? nil : "*")
        let isFresh = request.connection == .fresh
        long(CURLOPT_FRESH_CONNECT, isFresh ? 1 : 0)
        long(CURLOPT_FORBID_REUSE, isFresh ? 1 : 0)
        if let share { rk_curl_setopt_pointer(curl, easy, CURLOPT_SHARE, share) }

        setBody()
        setHeaders()
        if let overrides {
            for entry in overrides.addresses {
                resolvedList = curl.pointee.slist_append(resolvedList, entry) ?? resolvedList
            }
            rk_curl_setopt_pointer(curl, easy, CURLOPT_RESOLVE, resolvedList)
            Self.optionalString(easy, CURLOPT_PROXY, overrides.proxy)
        }

        let context = Unmanaged.passUnretained(self).toOpaque()
        rk_curl_setopt_pointer(curl, easy, CURLOPT_ERRORBUFFER, errorText.baseAddress)
        rk_curl_setopt_pointer(curl, easy, CURLOPT_WRITEDATA, context)
        rk_curl_setopt_pointer(curl, easy, CURLOPT_HEADERDATA, context)
        rk_curl_setopt_pointer(curl, easy, CURLOPT_PREREQDATA, context)
        rk_curl_setopt_pointer(curl, easy, CURLOPT_OPENSOCKETDATA, context)
        offset(CURLOPT_MAXFILESIZE_LARGE, max(1, request.maximumResponseBytes))
        if request.uploadProgress != nil {
            rk_curl_setopt_pointer(curl, easy, CURLOPT_XFERINFODATA, context)
            rk_curl_setopt_progress(curl, easy, tellProgress)
            long(CURLOPT_NOPROGRESS, 0)
        }
    }

    private func setBody() {
        let request = pending.request
        if request.body.isEmpty, request.method == .get || request.method == .delete {
            long(CURLOPT_HTTPGET, 1)
        } else {
            long(CURLOPT_POST, 1)
            offset(CURLOPT_POSTFIELDSIZE_LARGE, body.count)
            // An empty buffer has no address. Without an address libcurl would ask for a read function.
            if let address = body.baseAddress, !body.isEmpty {
                rk_curl_setopt_pointer(curl, easy, CURLOPT_POSTFIELDS, address)
            } else {
                string(CURLOPT_COPYPOSTFIELDS, "")
            }
        }
        string(CURLOPT_CUSTOMREQUEST, request.method.rawValue)
    }

    /// Sets the given headers, and removes those that libcurl would add by itself.
    private func setHeaders() {
        let headers = pending.request.headers
        for header in headers {
            // In libcurl, `Name;` is a header without a value; `Name:` would remove the header.
            let isEmpty = header.value.utf8.allSatisfy { $0 == 0x20 || $0 == 0x09 }
            append(isEmpty ? header.name + ";" : header.name + ": " + header.value)
        }
        for name in ["accept", "content-type", "user-agent"] where !headers.contains(where: { $0.isNamed(name) }) {
            append("\(name):")
        }
        append("Expect:")
        rk_curl_setopt_pointer(curl, easy, CURLOPT_HTTPHEADER, headerList)
    }

    private func append(_ line: String) { headerList = curl.pointee.slist_append(headerList, line) ?? headerList }
    private func string(_ option: CURLoption, _ value: String) { rk_curl_setopt_string(curl, easy, option, value) }
    private func long(_ option: CURLoption, _ value: Int) { rk_curl_setopt_long(curl, easy, option, value) }
    private func offset(_ option: CURLoption, _ value: Int) {
        rk_curl_setopt_offset(curl, easy, option, curl_off_t(value))
    }
    private static func optionalString(_ easy: UnsafeMutableRawPointer, _ option: CURLoption, _ value: String?) {
        if let value {
            rk_curl_setopt_string(curl, easy, option, value)
        } else {
            rk_curl_setopt_string(curl, easy, option, nil)
        }
    }

    // MARK: Events, called by libcurl on the driver's thread

    fileprivate func opened(_ descriptor: Int32, to address: UnsafePointer<curl_sockaddr>) {
        if let text = addressText(address) { addresses.append(text) }
        guard pending.target.isEncrypted else { return }
        ConnectingSockets.shared.opened(descriptor, for: pending)
    }

    fileprivate func prepareToSend() -> Bool {
        if pending.target.isEncrypted { ConnectingSockets.shared.forget(pending.ticket) }
        attempts += 1
        let mayRepeat = pending.request.method == .get && pending.request.connection == .pooled
        guard attempts > 1, !mayRepeat else { return true }
        refusal = pending.error(.closed, "the server had closed the connection; the request was not sent again")
        return false
    }

    fileprivate func tellSent(_ bytes: Int) {
        guard bytes > told else { return }
        told = bytes
        pending.request.uploadProgress?(bytes)
    }

    fileprivate func take(header line: UnsafeBufferPointer<UInt8>) -> Bool {
        guard received.add(header: line) else {
            refusal = pending.error(.tooLarge, Self.tooManyHeaders)
            return false
        }
        return true
    }

    private static let tooManyHeaders = "more than \(ReceivedResponse.maximumHeaderBytes) bytes of headers"

    fileprivate func take(body bytes: UnsafeBufferPointer<UInt8>) -> Bool {
        let limit = pending.request.maximumResponseBytes
        guard received.body.count + bytes.count <= limit else {
            refusal = pending.error(.tooLarge, "more than \(limit) bytes")
            return false
        }
        received.body.append(contentsOf: bytes)
        return true
    }

    // MARK: Outcome

    func outcome(_ code: CURLcode) -> Result<HTTPResponse, HTTPError> {
        if code == CURLE_OK, received.headersAreComplete {
            var status = 0
            rk_curl_getinfo_long(curl, easy, CURLINFO_RESPONSE_CODE, &status)
            var response = HTTPResponse(status: status, headers: received.headers, body: received.body)
            response.attempts = max(1, attempts)
            return .success(response)
        }
        var error = refusal ?? httpError(code == CURLE_OK ? CURLE_PARTIAL_FILE : code)
        error.receivedBytes = received.headerBytes > 0 || error.code == .malformed
        error.wasSent = attempts > 0
        return .failure(error)
    }

    private func httpError(_ code: CURLcode) -> HTTPError {
        // libcurl's errors for a header line beyond 100 kB, and for a Content-Length beyond the limit.
        if code == CURLE_OUT_OF_MEMORY { return pending.error(.tooLarge, Self.tooManyHeaders) }
        if code == CURLE_FILESIZE_EXCEEDED {
            return pending.error(.tooLarge, "more than \(pending.request.maximumResponseBytes) bytes")
        }
        let text = errorText.baseAddress.map { String(cString: $0) } ?? ""
        var fault = TransferFault(
            code, easy, pending.target, errorText: text, addresses: addresses, proxy: overrides?.proxySetting)
        fault.isNewConnection = !addresses.isEmpty
        fault.hasAnswer = received.headerBytes > 0
        fault.givenAuthorities = givenAuthorities
        fault.isSilent = isSilent
        let meaning = fault.meaning
        var error = pending.error(meaning.code, meaning.message)
        // If a peer ended the connection in order, libcurl reports an empty reply.
        error.isReset = fault.code == CURLE_RECV_ERROR || fault.code == CURLE_SEND_ERROR
        error.isRefused = meaning.code == .unreachable && fault.systemError == ECONNREFUSED
        noteSilence(in: &error)
        return error
    }

    /// Returns the error of a transfer that was cancelled while it ran.
    func cancelled(_ message: String) -> HTTPError {
        var error = pending.error(.cancelled, message)
        noteSilence(in: &error)
        error.receivedBytes = received.headerBytes > 0
        return error
    }

    /// Whether a TLS connection is being set up, was accepted, and no byte has come on it.
    private var isSilent: Bool { ConnectingSockets.shared.received(pending.ticket) == 0 }

    /// Records what the transfer waited for, if that is not the server's answer: a proxy that has not opened a tunnel on its connection yet,
    /// or the beginning of TLS. With plain HTTP, which has neither, nothing is known. libcurl reports no status
    /// of a SOCKS proxy, so the wait for that one ends with its first byte.
    private func noteSilence(in error: inout HTTPError) {
        let target = pending.target
        var status = 0
        rk_curl_getinfo_long(curl, easy, CURLINFO_HTTP_CONNECTCODE, &status)
        guard target.isEncrypted, !addresses.isEmpty, status == 0, received.headerBytes == 0 else { return }
        let proxy =
            target.mayUseProxy
            ? overrides?.proxySetting ?? ProxySetting(for: target.host, isEncrypted: true, environment) : nil
        guard let proxy else {
            error.lacksTLS = isSilent
            return
        }
        guard !proxy.isSOCKS || isSilent else { return }
        error.silentProxy = "the proxy \(proxy.place) (from \(proxy.variable))"
    }
}

/// A child that the program starts meanwhile would inherit libcurl's own sockets (7.88) and keep them open. Then the server would not see a
/// cancellation, and the child could read the answer.
private func openPrivateSocket(
    _ context: UnsafeMutableRawPointer?, _: curlsocktype, _ address: UnsafeMutablePointer<curl_sockaddr>?
) -> curl_socket_t {
    guard let address else { return CURL_SOCKET_BAD }
    let type = address.pointee.socktype | Int32(SOCK_CLOEXEC.rawValue)
    let descriptor = socket(address.pointee.family, type, address.pointee.protocol)
    if descriptor >= 0 {
        setUpProbes(descriptor)
        if let context { Unmanaged<Transfer>.fromOpaque(context).takeUnretainedValue().opened(descriptor, to: address) }
    }
    return descriptor
}

private func closeSocket(_: UnsafeMutableRawPointer?, _ descriptor: curl_socket_t) -> Int32 {
    ConnectingSockets.shared.close(descriptor)
}

/// TCP keep-alive: the kernel checks the connection even while no transfer uses it. After 15 seconds of silence it sends a probe. After 15
/// seconds without an answer it ends the connection, and libcurl does not use it again. By default this takes a quarter of an hour
/// (`tcp_retries2`), or two hours if there is nothing to send.
private func setUpProbes(_ descriptor: Int32) {
    for (level, name, value) in [
        (SOL_SOCKET, SO_KEEPALIVE, 1), (Int32(IPPROTO_TCP), TCP_KEEPIDLE, 15), (Int32(IPPROTO_TCP), TCP_KEEPINTVL, 5),
        (Int32(IPPROTO_TCP), TCP_USER_TIMEOUT, 15_000),
    ] {
        var value = Int32(value)
        setsockopt(descriptor, level, name, &value, socklen_t(MemoryLayout<Int32>.size))
    }
}

private func aboutToSend(
    _ context: UnsafeMutableRawPointer?, _: UnsafeMutablePointer<CChar>?, _: UnsafeMutablePointer<CChar>?, _: Int32,
    _: Int32
) -> Int32 {
    guard let context else { return Int32(CURL_PREREQFUNC_ABORT) }
    let mayGoOn = Unmanaged<Transfer>.fromOpaque(context).takeUnretainedValue().prepareToSend()
    return Int32(mayGoOn ? CURL_PREREQFUNC_OK : CURL_PREREQFUNC_ABORT)
}

private func tellProgress(
    _ context: UnsafeMutableRawPointer?, _: curl_off_t, _: curl_off_t, _: curl_off_t, _ sent: curl_off_t
) -> Int32 {
    if let context { Unmanaged<Transfer>.fromOpaque(context).takeUnretainedValue().tellSent(Int(sent)) }
    return 0
}

private func takeHeader(
    _ bytes: UnsafeMutablePointer<CChar>?, _ size: Int, _ count: Int, _ context: UnsafeMutableRawPointer?
) -> Int {
    deliver(bytes, size * count, context) { $0.take(header: $1) }
}

private func takeBody(
    _ bytes: UnsafeMutablePointer<CChar>?, _ size: Int, _ count: Int, _ context: UnsafeMutableRawPointer?
) -> Int {
    deliver(bytes, size * count, context) { $0.take(body: $1) }
}

/// If the result is not the number of bytes, libcurl ends the transfer.
private func deliver(
    _ bytes: UnsafeMutablePointer<CChar>?, _ count: Int, _ context: UnsafeMutableRawPointer?,
    to take: (Transfer, UnsafeBufferPointer<UInt8>) -> Bool
) -> Int {
    guard let bytes, let context else { return 0 }
    let transfer = Unmanaged<Transfer>.fromOpaque(context).takeUnretainedValue()
    let accepted = bytes.withMemoryRebound(to: UInt8.self, capacity: count) {
        take(transfer, UnsafeBufferPointer(start: $0, count: count))
    }
    return accepted ? count : count == 0 ? 1 : 0
}

/// The headers and body received so far.
struct ReceivedResponse {
    /// The limit for all header lines of one exchange, including interim responses. Servers usually send less than 8 KiB.
    static let maximumHeaderBytes = 64 << 10

    private(set) var headers: [HTTPHeader] = []
    private(set) var headerBytes = 0
    /// Whether the empty line that ends the headers has come. If a connection closes before that line, libcurl reports an empty body.
    private(set) var headersAreComplete = false
    var body: [UInt8] = []

    /// Takes one header line from libcurl, with its line end. Returns false if the header lines have too many bytes.
    mutating func add(header line: UnsafeBufferPointer<UInt8>) -> Bool {
        headerBytes += line.count
        guard headerBytes <= Self.maximumHeaderBytes else { return false }
        var text = line[...]
        while let last = text.last, last == 0x0D || last == 0x0A || last == 0x20 || last == 0x09 { text.removeLast() }
        headersAreComplete = text.isEmpty || !body.isEmpty
        if text.starts(with: "HTTP/".utf8), !text.contains(UInt8(ascii: ":")) || headers.isEmpty {
            headers = []  // a status line: the headers so far belonged to an interim response
        } else if let colon = text.firstIndex(of: UInt8(ascii: ":")), body.isEmpty {
            let value = text[(colon + 1)...].drop { $0 == 0x20 || $0 == 0x09 }
            headers.append(
                HTTPHeader(String(decoding: text[..<colon], as: UTF8.self), String(decoding: value, as: UTF8.self)))
        }
        return true
    }
}
