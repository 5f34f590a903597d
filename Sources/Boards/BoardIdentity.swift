// SPDX-License-Identifier: Apache-2.0
import RainCore

/// What a board says of itself before any session.
public struct BoardIdentity: Sendable, Equatable {
    /// How the board wants to be talked to, or nil where there is no session (a console).
    public var security: SecurityRequirement?
    /// How it can be tied to an account.
    public var association: AssociationMethod
    /// Whether it must be claimed (given its cloud certificate) before anything else makes sense; nil where the board does not tell.
    public var needsClaim: Bool?
    /// Whether it can list the networks around it.
    public var canScan: Bool
    /// Its id in the cloud, where it says so without a session.
    public var nodeID: NodeID?
    /// The version its provisioning service names, such as `netprov-v1.2`.
    public var version: String
    /// The version of RainMaker's part of the firmware (`rmaker.ver`, or `rmaker_extra.ver`), where the board says one.
    public var rainMakerVersion: String?
    /// Every capability it listed, in its order, as `section.capability`.
    public var capabilities: [String]
    /// Whether the board is put into an account over its network, once it is there: the way to it knows of Wi-Fi alone.
    public var associatesOnNetwork = false
    /// Whether the board takes a network's key of 64 hexadecimal digits in the place of a passphrase.
    public var takesWiFiKey = false
    /// Whether the board is on its network already: it takes no Wi-Fi settings, and needs none.
    public var isOnNetwork = false
    /// Where the board is talked to, in the place of where it was looked for: a cable on which its log named another way. Nil where it is one.
    public var reachedAt: String?
    /// What the board has printed of itself, where it was heard to start.
    public var printed: PrintedIdentity?
    /// Whether the board answers at all; otherwise ``printed`` is all that is known, and neither ``association`` nor ``needsClaim`` says anything.
    public var takesCommands = true

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
    /// Whether the session wants a proof of possession. Security 0 never does; Security 1 unless the board says `no_pop`.
    public var needsProofOfPossession: Bool

    public init(version: Int, patch: Int = 0, needsProofOfPossession: Bool) {
        self.version = version
        self.patch = patch
        self.needsProofOfPossession = needsProofOfPossession
    }
}

/// The ways to tie a board to an account.
public enum AssociationMethod: String, Sendable {
    /// Board and user both tell the cloud one secret.
    case userMapping = "user_mapping"
    /// The board signs a challenge of the cloud.
    case challengeResponse = "challenge_response"
}

/// What a board prints of itself when it starts, as far as that was heard.
public struct PrintedIdentity: Sendable, Equatable {
    /// Such as `esp32c3`.
    public var chip: String?
    /// Of the chip, such as `v0.4`.
    public var revision: String?
    /// Of its Wi-Fi station, such as `7C:DF:A1:00:00:01`.
    public var macAddress: String?
    /// The application's name, such as `led_light`.
    public var application: String?
    /// The application's version.
    public var applicationVersion: String?
    /// The version of ESP-IDF.
    public var framework: String?
    /// Why it started, in plain words.
    public var startReason: String?
    /// What its provisioning service is called.
    public var serviceName: String?
    /// Whether it has Wi-Fi settings of earlier, and waits for no others.
    public var isProvisioned = false
    /// Its address on Wi-Fi.
    public var address: String?

    public init() {}
}
