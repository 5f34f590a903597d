// SPDX-License-Identifier: Apache-2.0
import Logging
import Protocomm
import ProtocommCore
import RainHTTP
import Synchronization

/// protocomm over HTTP: to a board's own access point, or to a board on the same network.
///
/// Each exchange has a connection of its own, with the session's cookie, and nothing is ever sent twice: on a connection used
/// again, "the board refused" and "the board had closed it long ago" look alike, and every answer would wait 40 ms for a
/// delayed acknowledgement. The first exchange goes out on a connection that stays open until its answer has shown whether
/// the board sets a cookie; a board that sets none (ESP-IDF before 4.3) knows its conversation by that socket and keeps it.
public final class SoftAPTransport: Transport {
    /// Where every board's access point serves.
    public static let defaultHost = "192.168.4.1"
    /// The limit of `protocomm_httpd.c`: a longer body is dropped together with its connection.
    public static let maximumRequestLength = 4096
    /// More than any answer of firmware, which builds them in RAM.
    static let maximumAnswerLength = 1 << 16

    public let peer: String
    public let deadlines: ExchangeDeadlines
    let http: any HTTPClient
    let names: HTTPEndpointNames
    private let origin: String
    private let keptName: String
    private let logger: Logger
    private let state = Mutex(State())
    let open = OpenExchanges()

    struct State {
        enum Conversation: Equatable {
            case unknown
            case cookie(SessionCookie)
            /// The board knows us by our socket.
            case socket
        }
        var conversation = Conversation.unknown
    }

    /// - Parameters:
    ///   - host: a name, an IPv4 address, or an IPv6 address in brackets, with the zone of a link-local one: `[fe80::1%eth0]`.
    ///   - names: what the service calls its session and its version.
    public init(
        http: any HTTPClient, host: String = SoftAPTransport.defaultHost, port: Int = 80,
        names: HTTPEndpointNames = .provisioning, deadlines: ExchangeDeadlines = .standard,
        logger: Logger = Logger(label: "protocomm.softap") { _ in SwiftLogNoOpLogHandler() }
    ) {
        self.http = http
        self.names = names
        self.deadlines = deadlines
        self.logger = logger
        peer = "\(host):\(port)"
        // RFC 6874: a zone stands in a URL behind an escaped percent sign.
        origin = "http://\(host.split(separator: "%").joined(separator: "%25")):\(port)/"
        keptName = "protocomm \(peer) \(UInt64.random(in: 0...UInt64.max))"
    }

    public func maximumRequestLength(on endpoint: Endpoint) -> Int? { Self.maximumRequestLength }

    public func exchange(_ request: [UInt8], on endpoint: Endpoint) async throws(TransportError) -> [UInt8] {
        guard !request.isEmpty else { throw error(.malformed, endpoint, "The board does not take an empty request.") }
        guard request.count <= Self.maximumRequestLength else {
            throw error(
                .tooLong, endpoint,
                "The request has \(request.count) bytes, and the board takes \(Self.maximumRequestLength).")
        }
        guard let path = Self.path(names.name(of: endpoint)) else {
            throw error(.noSuchEndpoint, endpoint, "This endpoint's name cannot stand in a URL.")
        }
        let conversation = state.withLock { $0.conversation }
        let message = httpRequest(request, path: path, conversation)
        let http = http
        switch await open.run({ () async throws(HTTPError) in try await http.send(message) }) {
        case nil: throw error(.cancelled, endpoint, "The transport was closed.")
        case .failure(let failure)?:
            if failure.code == .closed, !failure.receivedBytes,
                let eviction = await eviction(failure, endpoint, conversation)
            {
                throw eviction
            }
            throw error(failure, endpoint)
        case .success(let response)?:
            await remember(response, after: conversation)
            return try answer(response, endpoint)
        }
    }

    public func close() async {
        open.close()
        await http.close(kept: keptName)
    }
}

extension SoftAPTransport {
    func httpRequest(_ body: [UInt8], path: String, _ conversation: State.Conversation) -> HTTPRequest {
        var headers = [HTTPHeader("Content-Type", "application/x-www-form-urlencoded")]
        var connection = HTTPRequest.Connection.kept(keptName)
        if case .cookie(let cookie) = conversation {
            headers.append(HTTPHeader("Cookie", cookie.headerValue))
            connection = .fresh
        }
        // The session holds the deadlines; this one only makes sure that nothing stays behind.
        return HTTPRequest(
            method: .post, url: origin + path, headers: headers, body: body,
            deadline: max(deadlines.handshake, deadlines.exchange) + .seconds(1),
            maximumResponseBytes: Self.maximumAnswerLength, connection: connection)
    }

    func remember(_ response: HTTPResponse, after conversation: State.Conversation) async {
        let isFirst = conversation == .unknown
        if let cookie = SessionCookie(response) {
            state.withLock { $0.conversation = .cookie(cookie) }
            logger.debug("session cookie", metadata: ["peer": "\(peer)"])
            // The board has one socket: close it before the next connection comes.
            if conversation == .unknown || conversation == .socket { await http.close(kept: keptName) }
        } else if isFirst, response.status == 200 {
            state.withLock { $0.conversation = .socket }
            logger.debug("board sets no cookie", metadata: ["peer": "\(peer)"])
        }
    }

    private func answer(_ response: HTTPResponse, _ endpoint: Endpoint) throws(TransportError) -> [UInt8] {
        if endpoint == .version, let found = Self.isNotBoard(response, names) {
            throw notBoard("it answered the first request with \(found)")
        }
        switch response.status {
        case 200 where response.body.isEmpty:
            throw error(.refused, endpoint, "The board answered with nothing.")
        case 200:
            return response.body
        case 404:
            throw error(
                .noSuchEndpoint, endpoint,
                names == .localControl
                    ? "What answers there lets nobody put it into an account: it is no RainMaker board, or its firmware has no service for "
                        + "that on its network."
                    : "The board has no such endpoint.")
        default:
            throw error(
                .malformed, endpoint,
                "The answer has HTTP status \(response.status), which no board sends here. Is this the board's address?"
            )
        }
    }

    /// What a server answered on the version, which every board has, that no board answers; nil for an answer that may be a board's.
    private static func isNotBoard(_ response: HTTPResponse, _ names: HTTPEndpointNames) -> String? {
        let head = String(decoding: response.body.prefix(64).drop { $0 <= 0x20 }, as: UTF8.self).lowercased()
        switch response.status {
        // The version is never refused.
        case 200 where response.body.isEmpty: return "an empty body (HTTP status 200)"
        case 200: return head.hasPrefix("<") ? "a web page" : nil
        // ESP-IDF's server in a board on its network whose firmware has no such service.
        case 404
        where names == .localControl && (head.hasPrefix("nothing matches") || head.hasPrefix("this uri does not")):
            return nil
        case 300..<400: return "a redirect (HTTP status \(response.status))"
        default: return "HTTP status \(response.status)"
        }
    }

    private func notBoard(_ why: String) -> TransportError {
        error(
            .unreachable, .version,
            "The server at \(peer) is not a board: \(why). Check the address, and that this machine is in the board's network.",
            reason: "not_a_board")
    }

    private func error(_ error: HTTPError, _ endpoint: Endpoint) -> TransportError {
        switch error.code {
        case .unresolved, .unreachable, .invalidRequest, .proxy, .proxyRefused:
            self.error(
                .unreachable, endpoint,
                "No connection to the board: \(error.message)\(error.message.hasSuffix(".") ? "" : ".") Is this machine in the board's network?"
            )
        // A handler that fails makes firmware end the connection in order. Nobody decided anything where it breaks.
        case .closed where error.isReset:
            self.error(.lost, endpoint, "The connection to the board was reset.")
        case .closed where !error.receivedBytes:
            self.error(.refused, endpoint, "The board closed the connection without an answer.")
        case .closed:
            self.error(.lost, endpoint, "The connection broke in the middle of the answer.")
        case .timeout:
            self.error(.timeout, endpoint, "The board did not answer in time.")
        case .cancelled:
            self.error(.cancelled, endpoint, "The exchange was cancelled.")
        default:
            endpoint == .version
                ? notBoard(error.code == .tooLarge ? "its answer is too long (\(error.message))" : error.message)
                : self.error(.malformed, endpoint, "What answers there is not a board: \(error.message)")
        }
    }

    func error(
        _ code: TransportError.Code, _ endpoint: Endpoint, _ message: String, reason: String? = nil
    ) -> TransportError {
        TransportError(code, endpoint: endpoint, peer: peer, message: message, reason: reason)
    }

    /// Unreserved characters (RFC 3986, 2.3) and slashes, as `esp_local_ctrl/session` has one.
    private static func path(_ endpoint: Endpoint) -> String? {
        let isSafe = endpoint.name.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "."),
                UInt8(ascii: "~"), UInt8(ascii: "/"):
                true
            default: false
            }
        }
        guard isSafe, (1...256).contains(endpoint.name.count) else { return nil }
        return String(decoding: endpoint.name, as: UTF8.self)
    }
}

/// A closed connection is a handler's refusal, or the work of another client. `esp_http_server` has one socket here, and a new connection
/// pushes the old one out (`lru_purge_enable`); `protocomm_httpd.c` has one session, and a request without its cookie replaces it.
extension SoftAPTransport {
    /// What a connection that was closed without an answer means, if it was not a refusal.
    ///
    /// The board is asked for its version with the cookie that was ours: to a client whose session it no longer knows it gives a new cookie
    /// with the answer. Where the session is still ours, a connection that was reset says that the request was not read to its end. One that
    /// was closed in order may have been pushed out before its request came, by a client that had not sent its own when the board was asked:
    /// a moment later it has.
    func eviction(
        _ failure: HTTPError, _ endpoint: Endpoint, _ conversation: State.Conversation
    ) async -> TransportError? {
        // The version is never refused.
        guard endpoint != .version else {
            return conversation == .unknown ? closedUnheard : connectionTaken(endpoint)
        }
        guard case .cookie(let ours) = conversation else { return nil }
        if await isTaken(ours) {
            return error(
                .evicted, endpoint, "Another client is talking to the board, which serves one at a time.",
                reason: "session_taken")
        }
        if failure.isReset { return connectionTaken(endpoint) }
        // The time that a client takes from its connection to its request, or to come again; only a failure waits for it.
        try? await Task.sleep(for: .milliseconds(250))
        return await isTaken(ours) ? connectionTaken(endpoint) : nil
    }

    /// Whether the board has another session than that; then ours is the newest.
    private func isTaken(_ ours: SessionCookie) async -> Bool {
        let question = httpRequest(Array("---".utf8), path: names.version.description, .cookie(ours))
        let http = http
        let answer = await open.run { () async throws(HTTPError) in try await http.send(question) }
        guard case .success(let response)? = answer, let given = SessionCookie(response), given != ours else {
            return false
        }
        await remember(response, after: .cookie(ours))
        return true
    }

    /// The first connection was closed without a byte. A board does that when another client comes, so the code is the same; but nothing that
    /// a board sends has come from this address.
    private var closedUnheard: TransportError {
        error(
            .evicted, .version,
            "The server at \(peer) closed the connection without an answer; it may not be a board.",
            reason: "connection_taken")
    }

    private func connectionTaken(_ endpoint: Endpoint) -> TransportError {
        error(
            .evicted, endpoint,
            "The board dropped the connection before it had read the request, as it does when another client comes.",
            reason: "connection_taken")
    }
}

/// The cookie by which a board recognises a conversation over several connections: `session=` and a 32-bit number.
///
/// The firmware compares the whole `Cookie` header with that text in a buffer of 20 bytes, so nothing else may stand in it
/// (`protocomm_httpd.c` of ESP-IDF, from 4.3 on).
struct SessionCookie: Sendable, Equatable {
    let number: UInt32

    /// What belongs into the `Cookie` header.
    var headerValue: String { "session=\(number)" }

    init(number: UInt32) { self.number = number }

    /// Reads one `Set-Cookie` value; nil unless it is a session cookie. Attributes after a semicolon are left aside.
    init?(setCookie: String) {
        let name = Array("session=".utf8)
        let text = Array(setCookie.utf8.prefix(256))
        let pair = text.prefix { $0 != UInt8(ascii: ";") }.filter {
            $0 != UInt8(ascii: " ") && $0 != UInt8(ascii: "\t")
        }
        guard pair.starts(with: name) else { return nil }
        let digits = pair.dropFirst(name.count)
        guard (1...10).contains(digits.count), digits.allSatisfy({ (0x30...0x39).contains($0) }),
            let number = UInt32(String(decoding: digits, as: UTF8.self))
        else { return nil }
        self.number = number
    }

    /// The session cookie that a response sets, if it does. The last one counts.
    init?(_ response: HTTPResponse) {
        let cookies = response.headers.filter { $0.name.lowercased() == "set-cookie" }
            .compactMap { SessionCookie(setCookie: $0.value) }
        guard let last = cookies.last else { return nil }
        self = last
    }
}

/// What a service that speaks protocomm over HTTP calls its session and its version; all other endpoints keep their names.
public struct HTTPEndpointNames: Sendable, Equatable {
    /// In the place of `prov-session`.
    public var session: Endpoint
    /// In the place of `proto-ver`.
    public var version: Endpoint

    public init(session: Endpoint, version: Endpoint) {
        self.session = session
        self.version = version
    }

    /// Provisioning: `network_provisioning` and `wifi_provisioning`.
    public static let provisioning = HTTPEndpointNames(session: .session, version: .version)
    /// Local control, and RainMaker's on-network service, which takes its names (`esp_rmaker_on_network_chal_resp.c`).
    public static let localControl = HTTPEndpointNames(
        session: .localControlSession, version: .localControlVersion)

    func name(of endpoint: Endpoint) -> Endpoint {
        switch endpoint {
        case .session: session
        case .version: version
        default: endpoint
        }
    }
}
