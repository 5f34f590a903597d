// SPDX-License-Identifier: Apache-2.0
import Protocomm
import RainCore
// A board's functions throw it.
@_exported import struct Protocomm.BoardError

/// One board during its setup: over protocomm on any transport, or through the commands of its console.
///
/// The order of the calls is the order in which firmware accepts them: ``identify()``, ``secure()``, ``scan()`` if needed,
/// ``associate(_:)``, ``join(_:)``, ``watch(report:)``. Association comes before joining, because a board that has applied its Wi-Fi
/// settings may stop its provisioning service. Every call throws `BoardError` and ends promptly with `cancelled` when its task is
/// cancelled. No call repeats a request that a board has already accepted.
public protocol Board: Sendable {
    /// The board's name in messages: its host or its port.
    var peer: String { get }

    /// Whether this machine has no internet access now, because it is on the network that the board itself opens. The cloud is then asked
    /// later. False by default.
    var isOffline: Bool { get async }

    /// Whether this machine leaves its own network for the board's when the board is first asked, so that work that needs the internet is
    /// done before. False by default.
    var leavesNetwork: Bool { get async }

    /// Asks for the board's identity and capabilities. Needs no session and at most one exchange, unless only handshakes show the board's
    /// security scheme, as over its network.
    func identify() async throws(BoardError) -> BoardIdentity

    /// Opens the secure session that all later calls use. Boards without one do nothing.
    func secure() async throws(BoardError)

    /// Returns the networks that the board receives, strongest first. Only before ``join(_:)``.
    func scan() async throws(BoardError) -> [AccessPoint]

    /// Begins to give the board its cloud certificate, and returns the board's description of itself for the claim service.
    ///
    /// Needed if ``BoardIdentity/needsClaim`` is true, after ``secure()`` and before everything else. The three steps follow each other,
    /// with the service's replies in between. After `claimInterrupted`, and whenever the board is still in the middle of a claim, all three
    /// may be repeated at once. `claimFailed` means that repeating them would fail again. End the claim with ``abortClaim()``; the board
    /// accepts another one after a restart.
    func startClaim() async throws(BoardError) -> [UInt8]

    /// Sends the board the service's first reply, and returns the board's request for a certificate.
    func requestCertificate(_ reply: [UInt8]) async throws(BoardError) -> [UInt8]

    /// Sends the board the service's second reply with the certificate. From then on the board has another node id.
    func storeCertificate(_ reply: [UInt8]) async throws(BoardError)

    /// Ends a failed claim at the board. From then on firmware accepts no claim until it restarts, and stays off the cloud, so do not call
    /// this while a claim may still succeed.
    ///
    /// Returns whether the board received the abort, or may have. Sends nothing if no claim was begun, if the claim has ended by itself, or
    /// if the session broke.
    @discardableResult
    func abortClaim() async -> Bool

    /// Associates the board with an account.
    func associate(_ request: AssociationRequest) async throws(BoardError) -> AssociationReply

    /// Called once the cloud has the board in the account. Some boards accept associations over their network from every client with the
    /// proof of possession; such a board stops that now. Does nothing by default.
    func endAssociation() async throws(BoardError)

    /// Sends the board its network and makes it join. Returns when the board has accepted, not when it is connected. May be called again
    /// with other credentials after ``reset()``, in the same session.
    ///
    /// After `mayBeJoining` and `cancelled` it is unknown whether the board accepted the network, so the board may still appear in the
    /// cloud. All other errors mean that the board is not joining.
    func join(_ network: WiFiNetwork) async throws(BoardError)

    /// Does the same, and reports a board that is still trying an earlier network, for example from a run that was killed. Such a board is
    /// waited for (`occupied`), without a deadline, and gets this network as soon as it accepts one. If it joins the other network
    /// meanwhile, the error is `rejected`, and its message names that network. By default nothing is reported.
    func join(
        _ network: WiFiNetwork, report: @Sendable (WiFiProgress) async -> Void
    ) async throws(BoardError)

    /// Follows the attempt that ``join(_:)`` began, and returns as soon as the board is connected.
    ///
    /// Throws `wifiAuthenticationFailed` or `wifiNetworkNotFound` if the board reports that. Throws `deviceLost` if the board no longer
    /// answers, which after joining may only mean that it left for its new network. Has no deadline: the caller cancels.
    func watch(report: @Sendable (WiFiProgress) async -> Void) async throws(BoardError) -> JoinedNetwork

    /// Waits, after ``watch(report:)``, for the board's report about its connection to the cloud, such as a log line on its console. Ends
    /// when it is cancelled. Returns nil at once for a board that reports nothing about it, which is the default.
    func cloudContact() async throws(BoardError) -> CloudContact?

    /// Forgets failed Wi-Fi credentials, so that the board accepts others.
    func reset() async throws(BoardError)

    /// Sends the application's own bytes to an endpoint that the firmware has added (`protocomm_add_endpoint`), in the secure session, and
    /// returns the answer. Call it after ``secure()``, and before ``join(_:)`` if the board needs the data before it leaves.
    ///
    /// Sends them once: if the answer is lost, only the application knows whether the request took effect. Throws `unsupported` if the
    /// board has no such endpoint, or is not connected by protocomm.
    func send(_ payload: [UInt8], to endpoint: String) async throws(BoardError) -> [UInt8]

    /// Ends the session and closes the port or socket.
    func close() async
}

/// Defaults: most boards without protocomm cannot be claimed by a client.
extension Board {
    public func startClaim() async throws(BoardError) -> [UInt8] { throw .claimingUnsupported }
    public func requestCertificate(_ reply: [UInt8]) async throws(BoardError) -> [UInt8] {
        throw .claimingUnsupported
    }
    public func storeCertificate(_ reply: [UInt8]) async throws(BoardError) { throw .claimingUnsupported }
    public func abortClaim() async -> Bool { false }
}

extension Board {
    public var isOffline: Bool { get async { false } }
    public var leavesNetwork: Bool { get async { false } }
    public func endAssociation() async throws(BoardError) {}
}

extension Board {
    public func join(
        _ network: WiFiNetwork, report: @Sendable (WiFiProgress) async -> Void
    ) async throws(BoardError) { try await join(network) }
}

extension Board {
    public func cloudContact() async throws(BoardError) -> CloudContact? { nil }
}

extension Board {
    public func send(_ payload: [UInt8], to endpoint: String) async throws(BoardError) -> [UInt8] {
        throw BoardError(
            .unsupported,
            message:
                "The board at \(peer) does not accept custom data over this connection: only boards with protocomm have endpoints for "
                + "custom data."
        )
    }
}

extension BoardError {
    fileprivate static var claimingUnsupported: BoardError {
        BoardError(
            .unsupported,
            message:
                "The board cannot be claimed over this connection. Claim it over Bluetooth or its own access point.")
    }
}

/// A request to the board that lets the cloud verify the board's user.
public enum AssociationRequest: Sendable {
    /// Remember this user and secret, and report them to the cloud once online (`cloud_user_assoc`).
    case userMapping(UserID, MappingSecret)
    /// Sign these bytes with the node's own key (`ch_resp`).
    case challenge([UInt8])
}

/// The board's answer to an ``AssociationRequest``.
public struct AssociationReply: Sendable, Equatable {
    /// The node id under which the cloud knows the board. A board gets it when it is claimed.
    public var nodeID: NodeID
    /// The signature over the challenge: ECDSA P-256 in DER, or RSA-PSS. Empty for a user mapping.
    public var signature: [UInt8]

    public init(nodeID: NodeID, signature: [UInt8] = []) {
        self.nodeID = nodeID
        self.signature = signature
    }
}

/// The progress of a board that tries to join.
public enum WiFiProgress: Sendable, Equatable {
    /// The board is trying to join the network.
    case connecting
    /// One attempt failed, and the board continues by itself.
    case attemptFailed(remaining: Int)
    /// The board accepts no settings yet, because it is trying an earlier network. Only ``Board/join(_:report:)`` reports it.
    case occupied
    /// The board does not answer at the moment: its access point may be changing its channel.
    case unreachable
}

/// The network that a board has joined.
public struct JoinedNetwork: Sendable, Equatable {
    /// Dotted IPv4 address; empty if the board does not report one.
    public var address: String
    /// The network's name; empty if the board's answer does not include it.
    public var ssid: SSID
    /// The number of the radio channel; nil if the board does not report it, as on the RainMaker console.
    public var channel: Int?

    public init(address: String, ssid: SSID, channel: Int? = nil) {
        self.address = address
        self.ssid = ssid
        self.channel = channel
    }
}

extension JoinedNetwork {
    /// Throws `rejected` if the board, which an earlier run may have provisioned, reports another network than this.
    package func verify(isOn network: WiFiNetwork) throws(BoardError) {
        // Firmware keeps names as C strings.
        let (here, asked) = (ssid.bytes.prefix { $0 != 0 }, network.ssid.bytes.prefix { $0 != 0 })
        guard !here.isEmpty, here != asked else { return }
        throw BoardError(
            .rejected,
            message:
                "The board is already on the network \(ssid), and accepts no other network. \(BoardError.toChangeNetwork)"
        )
    }
}

/// A provisioned board's report about its connection to the cloud.
public enum CloudContact: Sendable, Equatable {
    /// The board connects to this MQTT broker: `host`, or `host:port`.
    case connecting(to: String)
    /// The board has no certificate, so it does not connect to the cloud.
    case unclaimed
}
