// SPDX-License-Identifier: Apache-2.0
import ProtocommWire

/// What kind of board this is.
public struct DeviceConfiguration: Sendable {
    /// How the board is put into an account.
    public enum Association: Sendable, Equatable {
        /// `cloud_user_assoc`: a secret that board and user both tell the cloud.
        case userMapping
        /// `ch_resp`: the board signs the cloud's challenge.
        case challengeResponse
        case none
    }

    public var nodeID: [UInt8]
    public var security: SecurityVersion
    /// `sec_patch_ver`; only Security 2 has one other than 0.
    public var patchVersion: UInt32
    public var hasProofOfPossession: Bool
    public var association: Association
    /// A board without a certificate announces that it must be claimed first.
    public var isClaimed: Bool
    /// Twelve upper-case hex digits. An unclaimed board uses its address as its id, unless another one is given.
    public var macAddress: [UInt8]
    /// The faults of the claims to come: each claim takes the next one.
    public var claimFaults: [ClaimFault]
    public var provisioning: ProvisioningOptions
    /// The application's own endpoint, which answers as ESP-IDF's `custom-data` example does.
    public var customEndpoint: Endpoint?

    public init(
        nodeID: [UInt8], security: SecurityVersion, patchVersion: UInt32 = 0, hasProofOfPossession: Bool = true,
        association: Association = .userMapping, isClaimed: Bool = true, macAddress: [UInt8] = [],
        claimFaults: [ClaimFault] = [], provisioning: ProvisioningOptions = ProvisioningOptions(),
        customEndpoint: Endpoint? = nil
    ) {
        self.nodeID = nodeID
        self.security = security
        self.patchVersion = patchVersion
        self.hasProofOfPossession = hasProofOfPossession
        self.association = association
        self.isClaimed = isClaimed
        self.macAddress = macAddress.isEmpty && !isClaimed ? nodeID : macAddress
        self.claimFaults = claimFaults
        self.provisioning = provisioning
        self.customEndpoint = customEndpoint
    }

    /// Every endpoint that the board has while it is being provisioned.
    public var endpoints: [Endpoint] {
        var all = [Endpoint.control, .scan, .session, .config, .version]
        if association == .userMapping { all.append(.userMapping) }
        if !isClaimed { all.append(.claim) }
        if association == .challengeResponse { all.append(.challengeResponse) }
        if let customEndpoint { all.append(customEndpoint) }
        return all
    }
}
