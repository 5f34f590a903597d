// SPDX-License-Identifier: Apache-2.0
import RainAccount
import RainHTTP
import RainJSON

/// The RainMaker cloud beyond sign-in, in the name of the user whom an ``RainAccount/AccountSession`` has signed in.
///
/// Every call throws ``RainAccount/AccountError`` and takes at most some ten seconds; a call whose token was rejected renews the
/// session and is made once more.
public struct RainMakerCloud: Sendable {
    private let service: RainMakerService
    private let session: AccountSession

    /// - Parameter session: one at the same deployment; another's tokens are refused before anything is sent.
    public init(_ deployment: Deployment, session: AccountSession, http: any HTTPClient) {
        service = RainMakerService(deployment, http: http)
        self.session = session
    }

    /// In the user's name.
    @discardableResult
    func call(_ call: RainMakerCall) async throws(AccountError) -> JSONValue {
        try await service.call(call, in: session)
    }

    /// The same, with the cloud's own time.
    func datedCall(_ call: RainMakerCall) async throws(AccountError) -> (reply: JSONValue, date: UnixTime?) {
        try await service.datedCall(call, in: session)
    }

    /// In the user's name, with the size of the answer in bytes.
    func measuredCall(_ call: RainMakerCall) async throws(AccountError) -> (reply: JSONValue, bytes: Int) {
        try await service.measuredCall(call, in: session)
    }

    /// In the user's name, for the calls that answer with a list: 200, or 207 where some of what was asked for has failed.
    func listCall(_ call: RainMakerCall) async throws(AccountError) -> [JSONValue] {
        try await service.listCall(call, in: session)
    }

    /// In nobody's.
    func callAnonymously(_ call: RainMakerCall) async throws(AccountError) -> JSONValue {
        try await service.call(call)
    }

    var deployment: Deployment { service.deployment }

    /// Whether a name is that of the signed-in user. Names are e-mail addresses or telephone numbers, so their case does not matter.
    func isOwn(_ userName: String) async -> Bool {
        let own: String
        do throws(AccountError) { own = try await session.userName() } catch { return false }
        return own.lowercased() == userName.lowercased()
    }

    func incomplete(_ member: String, in reply: JSONValue? = nil) -> AccountError {
        service.incomplete(member, in: reply)
    }
}

/// Where nodes of a deployment find it, as their flash has it.
public struct NodeHosts: Sendable, Equatable {
    /// The broker, without a port.
    public var mqtt: String
    /// The provider of credentials for the cloud's other services; nil where there is none.
    public var credentials: String?
}

extension RainMakerCloud {
    /// The host that nodes of this deployment talk MQTT to. Needs no sign-in.
    public func mqttHost() async throws(AccountError) -> String { try await nodeHosts().mqtt }

    /// The hosts that nodes of this deployment talk to. Needs no sign-in.
    public func nodeHosts() async throws(AccountError) -> NodeHosts {
        var call = RainMakerCall(.get, "mqtt_host")
        call.isVersioned = false
        let answer = try await callAnonymously(call)
        guard let host = answer["mqtt_host"]?.string, !host.isEmpty else { throw incomplete("mqtt_host", in: answer) }
        let credentials = answer["mqtt_cred_host"]?.string ?? ""
        return NodeHosts(mqtt: host, credentials: credentials.isEmpty ? nil : credentials)
    }
}

/// How much of a list that comes in pages is taken: whoever answers in the cloud's place may hand out another page for ever.
struct ListBound {
    /// What is kept whole has a lower bound: in memory it is some ten times as large.
    static let wholeBytes = 16 << 20
    private static let maximumPages = 1000
    private static let maximumEntries = 100_000
    /// Of the service's own it is an id.
    private static let maximumToken = 1024

    private let what: String
    private var bytes: Int
    private var entries = maximumEntries
    private var tokens: Set<String> = []

    /// - Parameters:
    ///   - what: is listed, for messages.
    ///   - bytes: of all answers together.
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

    /// - Parameter token: where the next page begins.
    mutating func count(next token: String) throws(AccountError) {
        guard token.utf8.count <= Self.maximumToken else {
            throw endless("a page's token has \(token.utf8.count) bytes")
        }
        guard tokens.insert(token).inserted else { throw endless("a page comes again") }
        guard tokens.count < Self.maximumPages else { throw endless("it has more than \(Self.maximumPages) pages") }
    }

    private func endless(_ why: String) -> AccountError {
        AccountError(.malformedAnswer, message: "the cloud's list of \(what) does not end: \(why)")
    }
}
