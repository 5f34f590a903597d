// SPDX-License-Identifier: Apache-2.0
import RainCore

/// One board that is being set up, whatever it speaks: protocomm over some transport, or the commands of its console.
///
/// The calls follow the order in which firmware accepts them: ``identify()``, ``secure()``, ``scan()`` if wanted,
/// ``associate(_:)``, ``join(_:)``, ``watch(report:)``. Association comes before joining: a board that has applied its
/// Wi-Fi settings may shut its provisioning service down. Every call throws ``ProvisioningError`` and ends promptly with
/// `cancelled` when its task is cancelled; none of them retries what a board has already taken.
public protocol Board: Sendable {
    /// What messages call the board: its host, its port.
    var peer: String { get }

    /// Whether this machine has no way to the internet now, because it is on the network that the board itself opens: the cloud is not
    /// asked then, but later. By default it has one.
    var isOffline: Bool { get async }

    /// Asks what the board is and what it can do. Needs no session, and costs no more than one exchange, unless the board has to be asked
    /// by handshakes which scheme it has, as over its network.
    func identify() async throws(ProvisioningError) -> BoardIdentity

    /// Opens the secure session that all later calls travel in. Boards without one do nothing.
    func secure() async throws(ProvisioningError)

    /// The networks that the board hears, strongest first. Only before ``join(_:)``.
    func scan() async throws(ProvisioningError) -> [AccessPoint]

    /// Begins to give the board its cloud certificate, and returns what it says of itself, for the claim service.
    ///
    /// Needed where ``BoardIdentity/needsClaim`` says so, after ``secure()`` and before everything else. The three steps follow each other,
    /// with the service's replies in between. After `claimInterrupted`, and wherever else the board is still in the middle of a claim, all
    /// three may be repeated at once. `claimFailed` means that repeating them would fail again: end the claim with ``abortClaim()``, after
    /// which the board takes another one once it has restarted.
    func startClaim() async throws(ProvisioningError) -> [UInt8]

    /// Hands the board the service's reply to what it said, and returns its request for a certificate.
    func requestCertificate(_ reply: [UInt8]) async throws(ProvisioningError) -> [UInt8]

    /// Hands the board the service's second reply, with the certificate. From then on it has another node id.
    func storeCertificate(_ reply: [UInt8]) async throws(ProvisioningError)

    /// Ends a failed claim at the board. From then on firmware takes no claim until it restarts, and stays off the cloud; so this
    /// is not for a claim that may still succeed. Returns whether the board was told, or may have been; it is not where no claim was begun,
    /// where the claim has ended by itself or where the session broke.
    @discardableResult
    func abortClaim() async -> Bool

    /// Ties the board to an account.
    func associate(_ request: AssociationRequest) async throws(ProvisioningError) -> AssociationReply

    /// Called once the cloud has the board in the account: a board that lets itself be put into accounts over its network, by whoever is on
    /// it and knows its proof of possession, ends that. By default nothing is done.
    func endAssociation() async throws(ProvisioningError)

    /// Hands the board its network and has it try. Returns when the board has accepted, not when it is connected.
    /// May be called again after ``reset()`` with other credentials, in the same session.
    ///
    /// After `mayBeJoining` and `cancelled` it is not known whether the board took them: it may still appear in the cloud. Every other
    /// error means that the board is not joining.
    func join(_ network: WiFiNetwork) async throws(ProvisioningError)

    /// The same, with word of a board that is still trying a network that it was given before, as by a run that was killed: it is waited for
    /// (`occupied`), without a deadline of its own, and handed this network the moment it takes one. One that gets onto the other network
    /// meanwhile is `rejected`, and the message names where it is. By default nothing is told.
    func join(
        _ network: WiFiNetwork, report: @Sendable (WiFiProgress) async -> Void
    ) async throws(ProvisioningError)

    /// Follows the attempt that ``join(_:)`` began and returns the moment the board is connected.
    ///
    /// Throws `wifiAuthenticationFailed` or `wifiNetworkNotFound` for the board's own verdicts, and `deviceLost` when it can
    /// no longer be asked, which after joining may simply mean that it left for its new network. Has no deadline of its own:
    /// the caller cancels.
    func watch(report: @Sendable (WiFiProgress) async -> Void) async throws(ProvisioningError) -> JoinedNetwork

    /// Waits, after ``watch(report:)``, for what the board says of its way to the cloud, as the log on a console does. Ends when it is
    /// cancelled; nil at once from a board that says nothing of it, as by default.
    func cloudContact() async throws(ProvisioningError) -> CloudContact?

    /// Forgets failed Wi-Fi credentials, so that the board accepts others.
    func reset() async throws(ProvisioningError)

    /// Sends bytes of the application's own to an endpoint that the firmware has added (`protocomm_add_endpoint`), in the secure session,
    /// and returns its answer. After ``secure()``; before ``join(_:)`` where the board is to have them before it leaves.
    ///
    /// Sent once: whether a request whose answer is lost took effect, only the application knows. Throws `unsupported` where the board has
    /// no such endpoint, or is not reached by protocomm.
    func send(_ payload: [UInt8], to endpoint: String) async throws(ProvisioningError) -> [UInt8]

    /// Ends the conversation and closes the port or socket.
    func close() async
}

/// Most boards that do not speak protocomm cannot be claimed by a client.
extension Board {
    public func startClaim() async throws(ProvisioningError) -> [UInt8] { throw .claimingUnsupported }
    public func requestCertificate(_ reply: [UInt8]) async throws(ProvisioningError) -> [UInt8] {
        throw .claimingUnsupported
    }
    public func storeCertificate(_ reply: [UInt8]) async throws(ProvisioningError) { throw .claimingUnsupported }
    public func abortClaim() async -> Bool { false }
}

extension Board {
    public var isOffline: Bool { get async { false } }
    public func endAssociation() async throws(ProvisioningError) {}
}

extension Board {
    public func join(
        _ network: WiFiNetwork, report: @Sendable (WiFiProgress) async -> Void
    ) async throws(ProvisioningError) { try await join(network) }
}

extension Board {
    public func cloudContact() async throws(ProvisioningError) -> CloudContact? { nil }
}

extension Board {
    public func send(_ payload: [UInt8], to endpoint: String) async throws(ProvisioningError) -> [UInt8] {
        throw ProvisioningError(
            .unsupported,
            message: "The board at \(peer) is not reached by protocomm, so it has no endpoints of its own.")
    }
}

extension ProvisioningError {
    fileprivate static var claimingUnsupported: ProvisioningError {
        ProvisioningError(
            .unsupported,
            message: "The board cannot be claimed this way: claim it over Bluetooth or its own access point.")
    }
}

/// What a board is asked, so that the cloud will believe it belongs to a user.
public enum AssociationRequest: Sendable {
    /// Remember this user and secret, and report them to the cloud once online (`cloud_user_assoc`).
    case userMapping(UserID, MappingSecret)
    /// Sign these bytes with the node's own key (`ch_resp`).
    case challenge([UInt8])
}

/// The board's answer.
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

/// What is reported while a board tries to join.
public enum WiFiProgress: Sendable, Equatable {
    /// The board is trying to join the network.
    case connecting
    /// One attempt failed and the board goes on by itself.
    case attemptFailed(remaining: Int)
    /// The board takes no settings yet: it is trying a network that it was given before. Told by ``Board/join(_:report:)`` only.
    case occupied
    /// The board cannot be asked for the moment: the access point may be changing its channel.
    case unreachable
}

/// The network that a board is on.
public struct JoinedNetwork: Sendable, Equatable {
    /// Dotted IPv4 address; empty where the board does not report one.
    public var address: String
    /// The network's name; empty where the board's answer does not include it.
    public var ssid: SSID
    /// The number of the radio channel; nil where the board does not report it, as on the RainMaker console.
    public var channel: Int?

    public init(address: String, ssid: SSID, channel: Int? = nil) {
        self.address = address
        self.ssid = ssid
        self.channel = channel
    }
}

extension JoinedNetwork {
    /// That a board, which an earlier run may have sent on its way, is where it is to be, as far as it tells: `rejected` otherwise.
    package func verify(isOn network: WiFiNetwork) throws(ProvisioningError) {
        // Firmware keeps names as C strings.
        let (here, asked) = (ssid.bytes.prefix { $0 != 0 }, network.ssid.bytes.prefix { $0 != 0 })
        guard !here.isEmpty, here != asked else { return }
        throw ProvisioningError(
            .rejected,
            message:
                "The board is on the network \(ssid) already, and takes no other. Reset it to factory settings to give it another."
        )
    }
}

/// What a board that is on its network says of its way to the cloud.
public enum CloudContact: Sendable, Equatable {
    /// It connects to this MQTT broker; `host`, or `host:port`.
    case connecting(to: String)
    /// It has no certificate, so it stays away from the cloud.
    case unclaimed
}
