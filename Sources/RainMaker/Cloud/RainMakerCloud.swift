// SPDX-License-Identifier: Apache-2.0
import RainAccount
import RainHTTP
import RainJSON

/// Calls the RainMaker cloud, except for sign-in, for the user of an `AccountSession`.
///
/// Every call throws `AccountError` and takes at most about ten seconds. If the cloud rejects the token, the call renews the
/// session and is sent once more.
public struct RainMakerCloud: Sendable {
    private let service: RainMakerService
    private let session: AccountSession

    /// - Parameter session: a session at the same deployment. Tokens of another deployment are refused before anything is sent.
    public init(_ deployment: Deployment, session: AccountSession, http: any HTTPClient) {
        service = RainMakerService(deployment, http: http)
        self.session = session
    }

    /// Sends a call as the signed-in user.
    @discardableResult
    func call(_ call: RainMakerCall) async throws(AccountError) -> JSONValue {
        try await service.call(call, in: session)
    }

    /// Sends a call as the signed-in user, and returns the time of the cloud's clock too.
    func datedCall(_ call: RainMakerCall) async throws(AccountError) -> (reply: JSONValue, date: UnixTime?) {
        try await service.datedCall(call, in: session)
    }

    /// Sends a call as the signed-in user, and returns the size of the answer in bytes and the server's time too.
    func measuredCall(
        _ call: RainMakerCall
    ) async throws(AccountError) -> (reply: JSONValue, bytes: Int, date: UnixTime?) {
        try await service.measuredCall(call, in: session)
    }

    /// Sends a call whose answer is a list, as the signed-in user. The status is 200, or 207 if a part of the request failed.
    func listCall(_ call: RainMakerCall) async throws(AccountError) -> [JSONValue] {
        try await service.listCall(call, in: session)
    }

    /// Sends a call without authentication.
    func callAnonymously(_ call: RainMakerCall) async throws(AccountError) -> JSONValue {
        try await service.call(call)
    }

    var deployment: Deployment { service.deployment }

    /// Returns whether this is the signed-in user's name. Names are e-mail addresses or telephone numbers, so their case does not matter.
    func isOwn(_ userName: String) async -> Bool {
        let own: String
        do throws(AccountError) { own = try await session.userName() } catch { return false }
        return own.lowercased() == userName.lowercased()
    }

    func incomplete(_ member: String, in reply: JSONValue? = nil) -> AccountError {
        service.incomplete(member, in: reply)
    }
}

/// The hosts that a deployment's nodes connect to, as their flash stores them.
public struct NodeHosts: Sendable, Equatable {
    /// The MQTT broker, without a port.
    public var mqtt: String
    /// The host that provides credentials for the cloud's other services, or nil if there is none.
    public var credentials: String?
}

extension RainMakerCloud {
    /// Returns the MQTT host of this deployment's nodes. Needs no sign-in.
    public func mqttHost() async throws(AccountError) -> String { try await nodeHosts().mqtt }

    /// Returns the hosts that this deployment's nodes connect to. Needs no sign-in.
    public func nodeHosts() async throws(AccountError) -> NodeHosts {
        var call = RainMakerCall(.get, "mqtt_host")
        call.isVersioned = false
        let answer = try await callAnonymously(call)
        guard let host = answer["mqtt_host"]?.string, !host.isEmpty else { throw incomplete("mqtt_host", in: answer) }
        let credentials = answer["mqtt_cred_host"]?.string ?? ""
        return NodeHosts(mqtt: host, credentials: credentials.isEmpty ? nil : credentials)
    }
}

/// Limits how much of a paged list is read. A server that is not the cloud could answer with pages for ever.
struct ListBound {
    /// The limit in bytes for a list that is kept as a whole. In memory it takes about ten times as much.
    static let wholeBytes = 16 << 20
    private static let maximumPages = 1000
    private static let maximumEntries = 100_000
    /// The limit in bytes for a page token. The service's own tokens are ids.
    private static let maximumToken = 1024

    private let what: String
    private var bytes: Int
    private var entries = maximumEntries
    private var tokens: Set<String> = []

    /// - Parameters:
    ///   - what: the listed things, for messages.
    ///   - bytes: the limit for all answers together.
    init(of what: String = "nodes", bytes: Int = 64 << 20) {
        self.what = what
        self.bytes = bytes
    }

    mutating func count(bytes more: Int) throws(AccountError) {
        bytes -= more
        guard bytes >= 0 else { throw endless("it is too long") }
    }

    mutating func count(_ more: Int) throws(AccountError) {
        entries -= more
        guard entries >= 0 else { throw endless("it has more than \(Self.maximumEntries) \(what)") }
    }

    mutating func count(_ more: Int, bytes: Int) throws(AccountError) {
        try count(bytes: bytes)
        try count(more)
    }

    /// - Parameter token: the start of the next page.
    mutating func count(next token: String) throws(AccountError) {
        guard token.utf8.count <= Self.maximumToken else {
            throw endless("the token of a page is too long (\(token.utf8.count) bytes)")
        }
        guard tokens.insert(token).inserted else { throw endless("a page is repeated") }
        guard tokens.count < Self.maximumPages else { throw endless("it has more than \(Self.maximumPages) pages") }
    }

    private func endless(_ why: String) -> AccountError {
        AccountError(.malformedAnswer, message: "the cloud's list of \(what) was not read to its end: \(why)")
    }
}
