// SPDX-License-Identifier: Apache-2.0
import Logging
import Protocomm
import ProtocommCore
import RainHTTP
import Synchronization

/// Protocomm over HTTP: to a board's own access point, or to a board on the same network.
///
/// Each exchange has its own connection, with the session's cookie, and nothing is ever sent twice. On a reused connection a refusal looks
/// like a connection that the board closed long ago, and every answer would wait 40 ms for a delayed acknowledgement.
///
/// The first exchange uses a connection that stays open until its answer has shown whether the board sets a cookie. A board that sets none
/// (ESP-IDF before 4.3) recognises its session by that socket, which is kept.
public final class SoftAPTransport: Transport {
    /// The address of every board's access point.
    public static let defaultHost = "192.168.4.1"
    /// The limit of `protocomm_httpd.c`: for a longer body it closes the connection.
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
            /// The board recognises this client by its socket.
            case socket
        }
        var conversation = Conversation.unknown
    }

    /// - Parameters:
    ///   - host: a name, an IPv4 address, or an IPv6 address in brackets, with the zone of a link-local one: `[fe80::1%eth0]`.
    ///   - names: the service's names for its session and its version.
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
        // RFC 6874: in a URL a zone follows an escaped percent sign.
        origin = "http://\(host.split(separator: "%").joined(separator: "%25")):\(port)/"
        keptName = "protocomm \(peer) \(UInt64.random(in: 0...UInt64.max))"
    }

    public func maximumRequestLength(on endpoint: Endpoint) -> Int? { Self.maximumRequestLength }

    public func exchange(_ request: [UInt8], on endpoint: Endpoint) async throws(BoardError) -> [UInt8] {
        guard !request.isEmpty else { throw error(.malformed, endpoint, "The board does not accept an empty request.") }
        guard request.count <= Self.maximumRequestLength else {
            throw error(
                .tooLong, endpoint,
                "The request has \(request.count) bytes; the board accepts at most \(Self.maximumRequestLength).")
        }
        guard let path = Self.path(names.name(of: endpoint)) else {
            throw error(.noSuchEndpoint, endpoint, "This endpoint's name cannot be part of a URL.")
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
            do throws(BoardError) {
                return try answer(response, endpoint, hasAnswered: conversation != .unknown)
            } catch {
                guard error.code == .noSuchEndpoint, endpoint == .version, names == .localControl,
                    await isProvisioning()
                else { throw error }
                throw self.error(
                    .noSuchEndpoint, endpoint,
                    "The board at \(peer) is not on a network yet, and waits for its Wi-Fi settings. Provision it over its access point "
                        + "first.")
            }
        }
    }

    /// Whether the board answers with the version of the provisioning service, which it has until it is on its network.
    private func isProvisioning() async -> Bool {
        guard let path = Self.path(HTTPEndpointNames.provisioning.version) else { return false }
        let question = httpRequest(Array("---".utf8), path: path, .unknown)
        let http = http
        var answer = await open.run { () async throws(HTTPError) in try await http.send(question) }
        // The board may close the connection after a 404, and then it has not read the question.
        if case .failure(let error)? = answer, error.code == .closed, !error.receivedBytes {
            answer = await open.run { () async throws(HTTPError) in try await http.send(question) }
        }
        guard case .success(let response)? = answer, response.status == 200 else { return false }
        return response.body.first.map { $0 == UInt8(ascii: "{") || $0 == UInt8(ascii: "V") } ?? false
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
        // The session enforces the deadlines; this one only ensures that nothing is left open.
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
            // The board has one socket: close it before the next connection.
            if conversation == .unknown || conversation == .socket { await http.close(kept: keptName) }
        } else if isFirst, response.status == 200 {
            state.withLock { $0.conversation = .socket }
            logger.debug("board sets no cookie", metadata: ["peer": "\(peer)"])
        }
    }

    /// - Parameter hasAnswered: whether an earlier answer has shown that a board is at this address.
    private func answer(
        _ response: HTTPResponse, _ endpoint: Endpoint, hasAnswered: Bool
    ) throws(BoardError) -> [UInt8] {
        if endpoint == .version, let found = Self.isNotBoard(response, names) {
            throw notBoard("it answered the first request with \(found)")
        }
        switch response.status {
        case 200 where response.body.isEmpty:
            throw error(
                .refused, endpoint, "The board refused the request: its answer is empty.",
                reason: BoardError.emptyAnswer)
        case 200:
            return response.body
        case 404 where names == .localControl:
            throw error(
                .noSuchEndpoint, endpoint,
                "The device at \(peer) does not offer RainMaker's service on the network (HTTP 404). It may not be a RainMaker board, or its "
                    + "firmware may lack this service.")
        case 404: throw BoardError.missing(endpoint, peer)
        default:
            if hasAnswered { throw BoardError.answered(httpStatus: response.status, endpoint, peer) }
            throw error(
                .malformed, endpoint,
                "The server at \(peer) answered with HTTP status \(response.status), which a board never sends here. Check that this is the "
                    + "board's address.")
        }
    }

    /// Returns a description of an answer on the version, which every board has, that is not a board's; nil for an answer that may be a
    /// board's.
    private static func isNotBoard(_ response: HTTPResponse, _ names: HTTPEndpointNames) -> String? {
        let head = String(decoding: response.body.prefix(64).drop { $0 <= 0x20 }, as: UTF8.self).lowercased()
        switch response.status {
        // The version is never refused.
        case 200 where response.body.isEmpty: return "an empty body (HTTP status 200)"
        case 200: return head.hasPrefix("<") ? "a web page" : nil
        // From ESP-IDF's server in a board on its network whose firmware has no such service.
        case 404
        where names == .localControl && (head.hasPrefix("nothing matches") || head.hasPrefix("this uri does not")):
            return nil
        case 300..<400: return "a redirect (HTTP status \(response.status))"
        default: return "HTTP status \(response.status)"
        }
    }

    private func notBoard(_ why: String) -> BoardError {
        error(
            .unreachable, .version,
            "The server at \(peer) is not a board: \(why). Check the address, and that this machine is on the board's network.",
            reason: "not_a_board")
    }

    private func error(_ error: HTTPError, _ endpoint: Endpoint) -> BoardError {
        switch error.code {
        case .unreachable where error.isRefused: refusedConnection(endpoint)
        case .unresolved, .unreachable, .invalidRequest, .proxy, .proxyRefused:
            self.error(
                .unreachable, endpoint,
                "No connection to \(peer): \(error.message)\(error.message.hasSuffix(".") ? "" : ".") Check that this machine is on the board's network."
            )
        // If a handler fails, firmware closes the connection in order. A broken connection is not a decision of the board.
        case .closed where error.isReset:
            self.error(.lost, endpoint, "The connection to \(peer) was reset.")
        case .closed where !error.receivedBytes:
            self.error(.refused, endpoint, "The device at \(peer) closed the connection without an answer.")
        case .closed:
            self.error(.lost, endpoint, "The connection to \(peer) broke in the middle of the answer.")
        case .timeout where error.receivedBytes, .cancelled where error.receivedBytes:
            self.error(
                error.code == .timeout ? .timeout : .cancelled, endpoint,
                "The server at \(peer) began an answer and did not finish it.", reason: BoardError.answerCut)
        case .timeout:
            self.error(.timeout, endpoint, "The device at \(peer) did not answer in time.")
        case .cancelled:
            self.error(.cancelled, endpoint, "The exchange was cancelled.")
        default:
            endpoint == .version
                ? notBoard(error.code == .tooLarge ? "its answer is too long (\(error.message))" : error.message)
                : self.error(.malformed, endpoint, "The device at this address is not a board: \(error.message)")
        }
    }

    private func refusedConnection(_ endpoint: Endpoint) -> BoardError {
        var refused = error(
            .unreachable, endpoint,
            names == .localControl
                ? "Nothing listens at \(peer) (connection refused): the board may be off, its firmware may not offer a service on the "
                    + "network, or the address may be wrong."
                : "Nothing listens at \(peer) (connection refused): the board may be on Wi-Fi already, or the address may be wrong. "
                    + "Look for the board in your account. It may also not be in provisioning mode: a RainMaker board leaves that mode "
                    + "after five wrong proofs of possession, until it restarts."
        )
        refused.isConnectionRefused = true
        return refused
    }

    func error(
        _ code: BoardError.Code, _ endpoint: Endpoint, _ message: String, reason: String? = nil
    ) -> BoardError {
        BoardError(code, endpoint: endpoint, peer: peer, message: message, reason: reason)
    }

    /// Encodes a path: unreserved characters (RFC 3986, 2.3) and slashes, such as the one in `esp_local_ctrl/session`.
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

/// Evictions. A closed connection is a handler's refusal, or was caused by another client. `esp_http_server` has one socket here, and a new
/// connection replaces the old one (`lru_purge_enable`). `protocomm_httpd.c` has one session, and a request without its cookie replaces it.
extension SoftAPTransport {
    /// Returns the meaning of a connection that was closed without an answer, if it was not a refusal.
    ///
    /// This asks the board for its version with our cookie. If the board no longer knows the session, it sends a new cookie with the
    /// answer. If the session is still ours, a reset connection means that the request was not completely read. A connection that was
    /// closed in order may have been replaced before its request arrived, by a client that had not sent its own request at that time. So
    /// the board is asked again a moment later.
    func eviction(
        _ failure: HTTPError, _ endpoint: Endpoint, _ conversation: State.Conversation
    ) async -> BoardError? {
        // The version is never refused.
        guard endpoint != .version else {
            return conversation == .unknown ? closedUnheard : connectionTaken(endpoint)
        }
        guard case .cookie(let ours) = conversation else { return nil }
        if await isTaken(ours) {
            return error(
                .evicted, endpoint,
                "Another client is talking to the board, and the board serves only one client at a time.",
                reason: "session_taken")
        }
        if failure.isReset { return connectionTaken(endpoint) }
        // The time between a client's connection and its request, or its next one. Only a failure waits for it.
        try? await Task.sleep(for: .milliseconds(250))
        return await isTaken(ours) ? connectionTaken(endpoint) : nil
    }

    /// Whether the board has another session than this; then ours is the newest.
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

    /// The error if the first connection was closed without a byte. A board does that when another client connects, so the code is the
    /// same. But this address has not sent anything that a board sends.
    private var closedUnheard: BoardError {
        error(
            .evicted, .version,
            "The server at \(peer) closed the connection without an answer; it may not be a board.",
            reason: "connection_taken")
    }

    private func connectionTaken(_ endpoint: Endpoint) -> BoardError {
        error(
            .evicted, endpoint,
            "The board closed the connection before it had read the request, probably because another client connected.",
            reason: "connection_taken")
    }
}

/// The cookie by which a board recognises a session over several connections: `session=` and a 32-bit number.
///
/// The firmware compares the whole `Cookie` header with that text in a buffer of 20 bytes, so the header must not contain anything else
/// (`protocomm_httpd.c` of ESP-IDF, from 4.3 on).
struct SessionCookie: Sendable, Equatable {
    let number: UInt32

    /// The value of the `Cookie` header.
    var headerValue: String { "session=\(number)" }

    init(number: UInt32) { self.number = number }

    /// Reads one `Set-Cookie` value; nil unless it is a session cookie. Attributes after a semicolon are ignored.
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

    /// Reads the session cookie that a response sets, if any. The last one counts.
    init?(_ response: HTTPResponse) {
        let cookies = response.headers.filter { $0.name.lowercased() == "set-cookie" }
            .compactMap { SessionCookie(setCookie: $0.value) }
        guard let last = cookies.last else { return nil }
        self = last
    }
}

/// The names of session and version in a protocomm service over HTTP; all other endpoints keep their names.
public struct HTTPEndpointNames: Sendable, Equatable {
    /// The name instead of `prov-session`.
    public var session: Endpoint
    /// The name instead of `proto-ver`.
    public var version: Endpoint

    public init(session: Endpoint, version: Endpoint) {
        self.session = session
        self.version = version
    }

    /// Provisioning: `network_provisioning` and `wifi_provisioning`.
    public static let provisioning = HTTPEndpointNames(session: .session, version: .version)
    /// Local control, and RainMaker's on-network service, which uses its names (`esp_rmaker_on_network_chal_resp.c`).
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
