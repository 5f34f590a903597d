// SPDX-License-Identifier: Apache-2.0
import RainCore
import CRainCurl
import Glibc
import RainHTTP

/// The facts about a transfer that libcurl has ended, and their meaning for people: the place that failed (proxy, name, connection, TLS)
/// and the reason, in our own text. Text of libcurl and OpenSSL appears only if there is no better one.
struct TransferFault {
    var code: CURLcode
    /// libcurl's own text: the detailed one, if there is one.
    var text: String
    /// `host` or `host:port`.
    var host: String
    var isEncrypted: Bool
    /// The proxy for this transfer.
    var proxy: ProxySetting?
    /// Whether this transfer opened its connection. If not, the proxy has already answered on it.
    var isNewConnection = true
    /// Whether part of the answer arrived.
    var hasAnswer = false
    /// The proxy's answer to CONNECT; 0 if there was none.
    var connectStatus = 0
    /// The authentication methods that the proxy offers and libcurl knows: `CURLAUTH_…`; 0 if none is known.
    var proxyMethods = 0
    /// The error of a SOCKS proxy, if the code is `CURLE_PROXY`.
    var proxyError = CURLPX_OK
    /// `X509_V_…` of OpenSSL; 0 and 1 have no meaning here.
    var verifyResult = 0
    /// `errno` of the last connection.
    var systemError: Int32 = 0
    /// The addresses that were tried, as text.
    var addresses: [String] = []
    /// The environment variable that names the file of certificate authorities, if one does.
    var authoritiesVariable: String?
    /// The certificate authorities that replace the system's (``CurlConfiguration/givenAuthorities``).
    var givenAuthorities: String?
    /// Whether the connection was accepted and no byte has come on it.
    var isSilent = false
    /// This machine's time, against which certificates are checked.
    var now = ""

    /// The kind of failure, and the failure of `host` as the end of "HOST cannot be reached: …". For `closed`, it is the end of "no complete
    /// answer came from HOST: …".
    var meaning: (code: HTTPError.Code, message: String) {
        if let proxy, let fault = proxyFault(proxy) { return fault }
        if let fault = nameFault { return fault }
        let kind = errorCode(code)
        switch kind {
        case .tls: return throughProxy(withOwnAddress(tlsFault))
        case .unreachable: return (kind, connectionFault)
        case .unresolved where looksLikeAddress:
            return (kind, "\(hostName(host)) is not an IPv4 address, which has four numbers from 0 to 255")
        case .unresolved:
            return (
                kind,
                "the name \(hostName(host)) is not known (it may be misspelt, or DNS may not work on this machine)"
            )
        // A TLS 1.3 alert after the handshake arrives with the first read.
        case .closed where lowercased.contains("alert"): return throughProxy(withOwnAddress(tlsFault))
        case .closed: return (kind, closedFault)
        case .malformed: return (kind, answerFault)
        default: return (kind, text)
        }
    }

    /// The failure of an answer that arrived but cannot be read.
    private var answerFault: String {
        switch code {
        // The answer has no status line. libcurl's own text would be about an unsupported protocol.
        case CURLE_UNSUPPORTED_PROTOCOL: "it does not speak HTTP on that port"
        case CURLE_BAD_CONTENT_ENCODING: "its answer is encoded in a way that cannot be read (\(text))"
        default: "its answer is not proper HTTP (\(text))"
        }
    }

    private var closedFault: String {
        // A TLS 1.3 server checks for the client's certificate after the client's handshake is over (RFC 8446, 4.4.2.4), and some servers
        // send no alert.
        let silent =
            !isNewConnection || hasAnswer
            ? ""
            : !isEncrypted
                ? ", so that port may require https:// or use another protocol: check the scheme and the port of the address"
                : " right after the secure connection was made. The server may require a client certificate, which this program does not "
                    + "have, or be overloaded"
        return switch code {
        case CURLE_GOT_NOTHING: "it closed the connection without an answer\(silent)"
        case CURLE_PARTIAL_FILE: "it closed the connection in the middle of the answer"
        case CURLE_RECV_ERROR, CURLE_SEND_ERROR: "the connection broke\(silent)"
        default: text
        }
    }

    private var lowercased: String { text.lowercased() }
    private func says(_ words: String...) -> Bool { words.contains { lowercased.contains($0) } }

    // MARK: proxies

    /// Returns nil if the proxy has opened the tunnel, so that the failure is beyond it.
    private func proxyFault(_ proxy: ProxySetting) -> (code: HTTPError.Code, message: String)? {
        let name = "the proxy \(proxy.place) (from \(proxy.variable))"
        let notOne = "the server at \(proxy.place) (from \(proxy.variable)) is probably not a proxy"
        switch connectStatus {
        case 200..<300: return nil
        // libcurl uses only Basic by default (its manual, CURLOPT_PROXYAUTH).
        case 407 where proxyMethods != 0 && proxyMethods & 1 == 0:
            let ways = [(2, "Digest"), (4, "Negotiate"), (8, "NTLM")].filter { proxyMethods & $0.0 != 0 }.map { $0.1 }
            let offer = ways.isEmpty ? "another method" : ways.joined(separator: " or ")
            return (
                .proxyRefused, "\(name) requires a sign-in by \(offer) (HTTP 407), and this program supports only Basic"
            )
        case 407 where proxy.hasCredentials:
            return (.proxyRefused, "\(name) does not accept the user name and password in \(proxy.variable) (HTTP 407)")
        case 407:
            return (
                .proxyRefused,
                "\(name) requires a user name and a password (HTTP 407): write http://USER:PASSWORD@\(proxy.place)"
            )
        case 400, 404, 405, 501: return (.proxyRefused, "\(notOne) (HTTP \(connectStatus))")
        case 300..<400:
            return (.proxyRefused, "\(notOne), or requires a sign-in in the browser (HTTP \(connectStatus))")
        case 500...: return (.proxy, "\(name) cannot reach that host (HTTP \(connectStatus))")
        case 1...: return (.proxyRefused, "\(name) does not let this machine reach that host (HTTP \(connectStatus))")
        default: break
        }
        // Although the syntax is valid, libcurl may have taken a part of a password for the host.
        if says("unsupported proxy") || (code == CURLE_COULDNT_RESOLVE_PROXY && proxy.problem != nil) {
            let why = proxy.problem.map { ": \($0)" } ?? ""
            return (.proxyRefused, "\(proxy.variable) does not contain the address of a proxy\(why)")
        }
        if says("response 0") { return (.proxyRefused, notOne) }
        let port = proxy.assumedPort.map { "; the address has no port, so port \($0) was tried" } ?? ""
        if proxy.isSOCKS { return socksFault(proxy, name, notOne) }
        switch code {
        case CURLE_COULDNT_RESOLVE_PROXY: return (.proxy, "the name of \(name) is not found")
        case CURLE_COULDNT_CONNECT: return (.proxy, "\(name) does not answer: \(connectionFault)\(port)")
        case _ where !isNewConnection: return nil
        case CURLE_PROXY: return (.proxyRefused, "\(notOne) of that kind (\(text))")
        case CURLE_OPERATION_TIMEDOUT: return (.timeout, "\(name) did not answer in time")
        case CURLE_RECV_ERROR, CURLE_SEND_ERROR, CURLE_GOT_NOTHING:
            return (.proxy, "\(name) closed the connection: perhaps it is not a proxy")
        default: break
        }
        // Plain HTTP has no CONNECT, so a later failure may be the server's.
        guard errorCode(code) == .tls, isEncrypted else { return nil }
        return (.proxyRefused, "\(name) does not open a secure connection (\(tlsFault.message))")
    }

    /// Returns nil if the SOCKS proxy has done its part, as far as libcurl reports. libcurl reports no status of the tunnel, so a closed
    /// connection, and silence after the proxy's first byte, count as the server's.
    private func socksFault(
        _ proxy: ProxySetting, _ name: String, _ notOne: String
    ) -> (code: HTTPError.Code, message: String)? {
        switch code {
        case CURLE_COULDNT_RESOLVE_PROXY: return (.proxy, "the name of \(name) is not found")
        case CURLE_COULDNT_CONNECT: return (.proxy, "\(name) does not answer: \(connectionFault)")
        case CURLE_OPERATION_TIMEDOUT where isSilent: return (.timeout, "\(name) did not answer in time")
        case CURLE_PROXY: break
        default: return nil
        }
        if let reply = socksReply { return (.proxy, "\(name) cannot reach that host (\(reply))") }
        switch proxyError {
        case CURLPX_NO_AUTH, CURLPX_USER_REJECTED, CURLPX_IDENTD, CURLPX_IDENTD_DIFFER, CURLPX_GSSAPI,
            CURLPX_GSSAPI_PERMSG, CURLPX_GSSAPI_PROTECTION:
            return (
                .proxyRefused,
                proxy.hasCredentials
                    ? "\(name) does not accept the user name and password in \(proxy.variable)"
                    : "\(name) requires a user name and a password, as in \(proxy.scheme)://USER:PASSWORD@\(proxy.place)"
            )
        case CURLPX_LONG_USER, CURLPX_LONG_PASSWD:
            return (.proxyRefused, "\(proxy.variable) has a user name or a password of more than 255 bytes")
        case CURLPX_RESOLVE_HOST:
            let other = proxy.scheme == "socks5" ? "socks5h" : "socks4a"
            return (
                .unresolved,
                "this machine does not find the name \(hostName(host)). To let the proxy look the name up, write \(other):// in "
                    + "\(proxy.variable)"
            )
        case CURLPX_CLOSED, CURLPX_RECV_ADDRESS, CURLPX_RECV_AUTH, CURLPX_RECV_CONNECT, CURLPX_RECV_REQACK,
            CURLPX_SEND_AUTH, CURLPX_SEND_CONNECT, CURLPX_SEND_REQUEST:
            return (.proxy, "\(name) closed the connection: perhaps it is not a proxy")
        default: return (.proxyRefused, "\(notOne) of that kind (\(text))")
        }
    }

    /// The SOCKS proxy's reason for not connecting to the host (RFC 1928, section 6); nil if it gave none.
    private var socksReply: String? {
        switch proxyError {
        case CURLPX_REPLY_CONNECTION_REFUSED: "connection refused"
        case CURLPX_REPLY_HOST_UNREACHABLE: "host unreachable"
        case CURLPX_REPLY_NETWORK_UNREACHABLE: "network unreachable"
        case CURLPX_REPLY_NOT_ALLOWED: "its rules do not allow the connection"
        case CURLPX_REPLY_TTL_EXPIRED: "TTL expired"
        case CURLPX_REPLY_ADDRESS_TYPE_NOT_SUPPORTED: "it does not support this kind of address"
        case CURLPX_REPLY_COMMAND_NOT_SUPPORTED: "it does not support such connections"
        case CURLPX_REPLY_GENERAL_SERVER_FAILURE: "general failure of the proxy"
        case CURLPX_REPLY_UNASSIGNED: "unknown reason"
        // SOCKS4 gives no reason.
        case CURLPX_REQUEST_FAILED: "request rejected or failed"
        default: nil
        }
    }

    /// Adds the proxy to a TLS failure in a tunnel, because the proxy may also have answered in the server's place.
    private func throughProxy(
        _ fault: (code: HTTPError.Code, message: String)
    ) -> (code: HTTPError.Code, message: String) {
        guard let proxy, 200..<300 ~= connectStatus else { return fault }
        let name = "\(proxy.place) (from \(proxy.variable))"
        if speaksNoTLS {
            // Port 443 is for HTTPS; on another port the server may speak another protocol.
            let isUsualPort = hostName(host) == host || host.hasSuffix(":443")
            return isUsualPort
                ? (
                    .proxyRefused,
                    "the server at \(name) is not a proxy, or answers instead of the target. It accepted CONNECT (HTTP \(connectStatus)), "
                        + "but the data after that is not TLS"
                )
                : (.tls, "\(fault.message); or the server at \(name) is not a proxy")
        }
        guard isUntrusted || namesAnother else { return fault }
        return (fault.code, "\(fault.message). The proxy \(name) may have replaced the server's certificate")
    }

    // MARK: names and connections

    /// Whether the host is a name of another machine.
    private var isForeignName: Bool {
        let name = hostName(host)
        return !isNearby(name) && !name.hasPrefix("[") && !name.allSatisfy { $0.isNumber || $0 == "." }
    }

    /// Whether the host consists of numbers and dots. No name does, because no top-level domain is a number.
    private var looksLikeAddress: Bool {
        hostName(host).utf8.allSatisfy { (0x30...0x39).contains($0) || $0 == UInt8(ascii: ".") }
    }

    /// Whether the name of another machine resolves to this one. Linux connects 0.0.0.0 and :: to this machine, too.
    private var leadsHere: Bool {
        isForeignName && proxy == nil && !addresses.isEmpty
            && addresses.allSatisfy {
                ["::1", "::", "0.0.0.0"].contains($0) || $0.hasPrefix("127.") || $0.hasPrefix("::ffff:127.")
            }
    }

    /// Adds that the name resolves to this machine: the service may run here, or /etc/hosts or a DNS blocker is the cause.
    private func withOwnAddress(
        _ fault: (code: HTTPError.Code, message: String)
    ) -> (code: HTTPError.Code, message: String) {
        // A file of certificate authorities is read before the server answers.
        guard leadsHere, code != CURLE_SSL_CACERT_BADFILE else { return fault }
        return (fault.code, "\(fault.message). The host's name leads to this machine (\(addresses[0]))")
    }

    /// The failure of a name that has a wrong address, if no connection was made.
    private var nameFault: (code: HTTPError.Code, message: String)? {
        guard isForeignName, proxy == nil, !addresses.isEmpty, errorCode(code) == .unreachable else { return nil }
        if let nowhere = addresses.first(where: { ["0.0.0.0", "::"].contains($0) }) {
            return (
                .unreachable,
                "its name leads to \(nowhere), which is not the address of any machine. A DNS blocker, a filter of this network or "
                    + "/etc/hosts probably blocks it"
            )
        }
        if leadsHere {
            return (
                .unreachable,
                "its name leads to this machine (\(addresses[0])), where the service does not run: check /etc/hosts and DNS blockers"
            )
        }
        return nil
    }

    private var connectionFault: String {
        let isIPv6 = !addresses.isEmpty && addresses.allSatisfy { $0.contains(":") }
        switch systemError {
        case ENETUNREACH where isIPv6 && isForeignName, EADDRNOTAVAIL where isIPv6, EAFNOSUPPORT where isIPv6:
            return "it has only IPv6 addresses (\(addresses[0])), but this machine has no IPv6 connection"
        case ENETUNREACH: return "this machine has no route to that network"
        case EHOSTUNREACH: return "no machine answers at its address (no route to host)"
        case ECONNREFUSED: return "nothing listens on that port (connection refused)"
        case ETIMEDOUT: return "it did not accept the connection in time (a firewall may block it)"
        case EACCES, EPERM: return "this machine does not allow the connection (a firewall may block it)"
        default: return text
        }
    }

    // MARK: TLS

    private var speaksNoTLS: Bool {
        certificateFault == nil
            && says(
                "wrong version number", "packet length too long", "http request", "unknown protocol", "bad record type")
    }

    private var tlsFault: (code: HTTPError.Code, message: String) {
        if let message = certificateFault { return (.tls, message) }
        // Texts of OpenSSL 3 (ssl_err.c) and of libcurl's openssl.c.
        if says("certificate required", "client certificate") || code == CURLE_SSL_CLIENTCERT {
            return (.tls, "it requires a client certificate, which this program does not have")
        }
        if says("protocol version", "unsupported protocol") {
            return (.tls, "it supports only old versions of TLS, but at least TLS 1.2 is required")
        }
        if speaksNoTLS {
            return (
                .tls,
                "it does not speak TLS on that port, but plain HTTP or another protocol: check the address and its port"
            )
        }
        if says("unrecognized name") {
            return (.tls, "its server has no site of that name (TLS alert: unrecognized name)")
        }
        if says("handshake failure") {
            return (
                .tls,
                "it refused the secure connection (TLS alert: handshake failure): it may require a client certificate, or have no cipher "
                    + "in common with this machine"
            )
        }
        if says("dh key too small", "ee key too small", "ca key too small", "md too weak") {
            return (.tls, "its key or its certificate's signature is too weak")
        }
        let isWithoutAlert = says("ssl_error_syscall", "unexpected eof", "reset by peer", "broken pipe")
        // OpenSSL has no name for the alert 0, close_notify: its number is 1000.
        if isWithoutAlert || says("reason(1000)", "alert internal error", "user cancel") {
            // A server that sends an alert speaks TLS.
            let another = isWithoutAlert ? "a port that does not speak TLS, " : ""
            return (
                .closed,
                "it closed the connection when TLS began (possible causes: \(another)an overloaded server or a firewall on the way)"
            )
        }
        if let alert = text.firstRange(of: "alert ") {
            return (
                .tls, "it refused the secure connection (TLS alert: \(text[alert.upperBound...].prefix { $0 != "," }))"
            )
        }
        return (.tls, text)
    }

    /// Nil if the certificate was not the cause.
    private var certificateFault: String? {
        if code == CURLE_SSL_CACERT_BADFILE {
            return authoritiesFault
        }
        guard [CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_CONNECT_ERROR, CURLE_SSL_ISSUER_ERROR].contains(code) else {
            return nil
        }
        if namesAnother { return "its certificate is for another name" }
        let clock = now.isEmpty ? "" : " (it shows \(now))"
        // Numbers of OpenSSL's x509_vfy.h.
        switch verifyResult {
        case 9, 13: return "its certificate is not valid yet, or this machine's clock is wrong\(clock)"
        case 10, 14: return "its certificate has expired, or this machine's clock is wrong\(clock)"
        case 18:
            return "its certificate is self-signed, so no authority confirms it"
                + (givenAuthorities.map { ", and is not in \($0)" } ?? "")
        case 2, 19, 20, 21, 27:
            // With 20 and 21 the chain ends before an authority. It may be known, and the certificate before it was not sent.
            let incomplete =
                [20, 21].contains(verifyResult) ? ". The server may also have omitted its intermediate certificate" : ""
            if let givenAuthorities {
                return
                    "its certificate is from an authority that is not in \(givenAuthorities), and no other authorities are trusted\(incomplete)"
            }
            return
                "its certificate is from an authority that this machine does not trust. The authority may belong to the operator, or to a "
                + "device on the way that opens secure connections\(incomplete)"
        case 24:
            return
                "its certificate is signed by a certificate that does not belong to an authority (CA:TRUE is missing)"
                + (givenAuthorities.map { "; check \($0)" } ?? "")
        case 23: return "its certificate has been revoked"
        case 26: return "its certificate is not for servers (its extended key usage does not allow it)"
        case 66, 67, 68: return "its key or its certificate's signature is too weak"
        default: return nil
        }
    }

    /// libcurl compares the names itself. The numbers are OpenSSL's for a mismatch.
    private var namesAnother: Bool {
        says("subject name", "target host name", "common name") || [62, 64].contains(verifyResult)
    }

    private var isUntrusted: Bool { [2, 18, 19, 20, 21, 27].contains(verifyResult) }

    /// The failure of a file of certificate authorities that OpenSSL does not accept.
    private var authoritiesFault: String {
        guard let mark = text.firstRange(of: "certificate file: ") else {
            return "the file of certificate authorities cannot be read, or contains no certificate (\(text))"
        }
        let path = String(text[mark.upperBound...])
        let variable = authoritiesVariable.map { " (from \($0))" } ?? ""
        return
            "the file of certificate authorities \(path)\(variable) "
            + "\(certificateFileProblem(path) ?? "contains a certificate that cannot be read")"
    }
}

extension TransferFault {
    /// - Parameter errorText: the text in `CURLOPT_ERRORBUFFER`.
    init(
        _ code: CURLcode, _ easy: UnsafeMutableRawPointer, _ target: RequestTarget, errorText: String,
        addresses: [String] = [], proxy: ProxySetting? = nil
    ) {
        let general = String(cString: curl.pointee.easy_strerror(code))
        // libcurl's detailed message may quote the response. A message about connecting names only host, address and certificate.
        let isAboutConnecting = [.unresolved, .unreachable, .tls].contains(errorCode(code))
        let isPrecise =
            isAboutConnecting || errorText.hasPrefix("CONNECT tunnel failed") || errorText.hasPrefix("Proxy CONNECT")
            || errorText.contains("SSL routines")
        self.init(
            code: code, text: isPrecise && !errorText.isEmpty ? errorText : general, host: target.host,
            isEncrypted: target.isEncrypted)
        // libcurl reports this as a failure to receive. Its text may quote the answer.
        if code == CURLE_RECV_ERROR, errorText.contains("chunk") {
            self.code = CURLE_WEIRD_SERVER_REPLY
            text = "its chunked encoding is broken"
        }
        self.addresses = addresses
        if target.mayUseProxy {
            self.proxy = proxy ?? ProxySetting(for: target.host, isEncrypted: target.isEncrypted, environment)
        }
        rk_curl_getinfo_long(curl, easy, CURLINFO_HTTP_CONNECTCODE, &connectStatus)
        rk_curl_getinfo_long(curl, easy, CURLINFO_SSL_VERIFYRESULT, &verifyResult)
        rk_curl_getinfo_long(curl, easy, CURLINFO_PROXYAUTH_AVAIL, &proxyMethods)
        var number = 0
        if code == CURLE_PROXY {
            rk_curl_getinfo_long(curl, easy, CURLINFO_PROXY_ERROR, &number)
            proxyError = CURLproxycode(rawValue: UInt32(truncatingIfNeeded: number))
        }
        rk_curl_getinfo_long(curl, easy, CURLINFO_OS_ERRNO, &number)
        systemError = Int32(truncatingIfNeeded: number)
        now = Self.currentTime()
        if code == CURLE_SSL_CACERT_BADFILE {
            authoritiesVariable = ["CURL_CA_BUNDLE", "SSL_CERT_FILE"].first {
                environment($0).map { errorText.hasSuffix(": \($0)") } ?? false
            }
        }
    }

    /// The time in UTC, to the minute.
    private static func currentTime() -> String {
        CivilTime(secondsSince1970: time(nil)).text().prefix(16) + " UTC"
    }
}

/// Returns the address of a socket as text; nil if it is not an internet address.
func addressText(_ address: UnsafePointer<curl_sockaddr>) -> String? {
    var text = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
    // The structure is longer than its declaration (curl/curl.h).
    let start = UnsafeRawPointer(address) + MemoryLayout<curl_sockaddr>.offset(of: \.addr)!
    let source: UnsafeRawPointer
    switch address.pointee.family {
    case AF_INET: source = start + MemoryLayout<sockaddr_in>.offset(of: \.sin_addr)!
    case AF_INET6: source = start + MemoryLayout<sockaddr_in6>.offset(of: \.sin6_addr)!
    default: return nil
    }
    guard inet_ntop(address.pointee.family, source, &text, socklen_t(text.count)) != nil else { return nil }
    return String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
}

/// Maps libcurl's many errors to the few that matter to a caller.
func errorCode(_ code: CURLcode) -> HTTPError.Code {
    switch code {
    case CURLE_COULDNT_RESOLVE_HOST, CURLE_COULDNT_RESOLVE_PROXY: .unresolved
    case CURLE_COULDNT_CONNECT, CURLE_PROXY, CURLE_INTERFACE_FAILED: .unreachable
    case CURLE_OPERATION_TIMEDOUT: .timeout
    case CURLE_SSL_CONNECT_ERROR, CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_CERTPROBLEM, CURLE_SSL_CIPHER,
        CURLE_SSL_CACERT_BADFILE, CURLE_SSL_CRL_BADFILE, CURLE_SSL_ISSUER_ERROR, CURLE_SSL_ENGINE_INITFAILED,
        CURLE_SSL_ENGINE_NOTFOUND, CURLE_SSL_ENGINE_SETFAILED, CURLE_USE_SSL_FAILED, CURLE_SSL_PINNEDPUBKEYNOTMATCH,
        CURLE_SSL_INVALIDCERTSTATUS, CURLE_SSL_CLIENTCERT:
        .tls
    // A header line beyond libcurl's own limit is reported as lack of memory.
    case CURLE_FILESIZE_EXCEEDED, CURLE_OUT_OF_MEMORY: .tooLarge
    case CURLE_URL_MALFORMAT: .invalidRequest
    // The first is an answer without a status line: HTTP/0.9, or not HTTP.
    case CURLE_UNSUPPORTED_PROTOCOL, CURLE_WEIRD_SERVER_REPLY, CURLE_BAD_CONTENT_ENCODING, CURLE_HTTP2,
        CURLE_HTTP2_STREAM, CURLE_WRITE_ERROR:
        .malformed
    default: .closed
    }
}
