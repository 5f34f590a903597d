// SPDX-License-Identifier: Apache-2.0
import Protocomm
import RainCore

/// A board's description of itself before any session.
public struct BoardIdentity: Sendable, Equatable {
    /// The security that the board requires; nil if there is no session (a console).
    public var security: SecurityRequirement?
    /// How the board can be associated with an account.
    public var association: AssociationMethod
    /// Whether the board must be claimed (given its cloud certificate) before anything else makes sense; nil if it does not report this.
    public var needsClaim: Bool?
    /// Whether the board can list the networks around it.
    public var canScan: Bool
    /// The board's id in the cloud, if it reports one without a session.
    public var nodeID: NodeID?
    /// The version of the board's provisioning service, such as `netprov-v1.2`.
    public var version: String
    /// The version of RainMaker in the firmware (`rmaker.ver`, or `rmaker_extra.ver`), if the board reports one.
    public var rainMakerVersion: String?
    /// All capabilities that the board lists, in its order, as `section.capability`.
    public var capabilities: [String]
    /// Whether the board is associated over its network after it has joined, because the provisioning protocol only supports Wi-Fi
    /// settings.
    public var associatesOnNetwork = false
    /// Whether the board accepts a network's key of 64 hexadecimal digits instead of a passphrase.
    public var takesWiFiKey = false
    /// Whether the board is already on its network: it accepts no Wi-Fi settings, and needs none.
    public var isOnNetwork = false
    /// The board's address, if it differs from the given one: the log on a cable named another transport. Nil if it is the same.
    public var reachedAt: String?
    /// The identity that the board printed, if its start was heard.
    public var printed: PrintedIdentity?
    /// Whether the board answers at all. If not, only ``printed`` is known; ``association`` and ``needsClaim`` have no meaning.
    public var takesCommands = true

    /// Whether the board speaks Improv, which supports only Wi-Fi settings. Then ``association`` and ``needsClaim`` are assumptions.
    package var speaksImprov: Bool { capabilities == [Self.improv] }
    /// The only capability of a board that speaks Improv.
    static let improv = "improv.wifi"

    /// Throws `unsupported` if the board's protocol has no command for ``Board/reset()``. Such a board accepts other settings at any time.
    package func checkHasReset(_ peer: String) throws(BoardError) {
        guard speaksImprov else { return }
        throw BoardError(
            .unsupported,
            message:
                "The board at \(peer) speaks Improv, which has no command that makes a board forget its Wi-Fi settings. The board accepts "
                + "another network at any time. To erase its settings, use its own button or menu, or erase its flash.")
    }

    /// Whether the board joins only Thread networks, no Wi-Fi (`network_provisioning`'s capabilities).
    package var joinsThreadOnly: Bool {
        capabilities.contains("prov.thread_prov") && !capabilities.contains("prov.wifi_prov")
    }

    public init(
        security: SecurityRequirement? = nil, association: AssociationMethod, needsClaim: Bool? = false,
        canScan: Bool = false, nodeID: NodeID? = nil, version: String = "", rainMakerVersion: String? = nil,
        capabilities: [String] = []
    ) {
        self.security = security
        self.association = association
        self.needsClaim = needsClaim
        self.canScan = canScan
        self.nodeID = nodeID
        self.version = version
        self.rainMakerVersion = rainMakerVersion
        self.capabilities = capabilities
    }
}

/// The security scheme that a board requires.
public struct SecurityRequirement: Sendable, Equatable {
    /// `sec_ver`: 0, 1 or 2.
    public var version: Int
    /// `sec_patch_ver`: how Security 2 makes its nonces.
    public var patch: Int
    /// Whether the session needs a proof of possession. Security 0 never does; Security 1 does unless the board reports `no_pop`.
    public var needsProofOfPossession: Bool

    public init(version: Int, patch: Int = 0, needsProofOfPossession: Bool) {
        self.version = version
        self.patch = patch
        self.needsProofOfPossession = needsProofOfPossession
    }
}

/// The ways to associate a board with an account.
public enum AssociationMethod: String, Sendable {
    /// Board and user both send the cloud the same secret.
    case userMapping = "user_mapping"
    /// The board signs a challenge from the cloud.
    case challengeResponse = "challenge_response"
}

/// A board's description of itself at its start, as far as it was heard.
public struct PrintedIdentity: Sendable, Equatable {
    /// The chip, such as `esp32c3`.
    public var chip: String?
    /// The chip's revision, such as `v0.4`.
    public var revision: String?
    /// The address of its Wi-Fi station, such as `7C:DF:A1:00:00:01`.
    public var macAddress: String?
    /// The application's name, such as `led_light`.
    public var application: String?
    /// The application's version.
    public var applicationVersion: String?
    /// The version of ESP-IDF.
    public var framework: String?
    /// Why the board started, as a text.
    public var startReason: String?
    /// The name of its provisioning service.
    public var serviceName: String?
    /// Whether the board has earlier Wi-Fi settings and waits for no others.
    public var isProvisioned = false
    /// The board's address on Wi-Fi.
    public var address: String?

    public init() {}
}
