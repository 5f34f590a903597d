// SPDX-License-Identifier: Apache-2.0
import ProtocommCore

/// The kind of board to simulate.
public struct DeviceConfiguration: Sendable {
    /// How the board is put into an account.
    public enum Association: Sendable, Equatable {
        /// `cloud_user_assoc`: a secret that both the board and the user send to the cloud.
        case userMapping
        /// `ch_resp`: the board signs the cloud's challenge.
        case challengeResponse
        case none
    }

    /// The provisioning component: ESP-IDF's `wifi_provisioning`, by the version that changed it, or its successor.
    public enum Component: Sendable, Equatable {
        case wifiProvisioning44
        /// Announces `sec_ver`.
        case wifiProvisioning50
        /// Has `prov-ctrl`.
        case wifiProvisioning51
        /// Its version is `netprov-v1.2`, and it announces `wifi_prov`.
        case networkProvisioning
    }

    public var nodeID: [UInt8]
    public var security: SecurityVersion
    /// The newest patch version of Security 2 that its protocomm knows. 0 is an older protocomm without `sec_patch_ver`.
    public var patchVersion: UInt32
    public var hasProofOfPossession: Bool
    public var association: Association
    /// A board without a certificate announces that it must be claimed first.
    public var isClaimed: Bool
    /// Twelve upper-case hex digits. An unclaimed board uses its address as its id, unless another one is given.
    public var macAddress: [UInt8]
    /// The faults of future claims: each claim takes the next one.
    public var claimFaults: [ClaimFault]
    public var component: Component
    public var provisioning: ProvisioningOptions
    /// The application's own endpoint, which answers like ESP-IDF's `custom-data` example.
    public var customEndpoint: Endpoint?
    /// The node's values can be read and set in the provisioning session.
    public var hasLocalData = false
    /// The devices of the node's configuration besides the light: elements of a JSON array, each after a comma.
    public var moreDevices: [UInt8] = []
    /// The services of the node's configuration: a JSON array, `[]` if there are none.
    public var services: [UInt8]

    public init(
        nodeID: [UInt8], security: SecurityVersion, patchVersion: UInt32 = 1, hasProofOfPossession: Bool = true,
        association: Association = .userMapping, isClaimed: Bool = true, macAddress: [UInt8] = [],
        claimFaults: [ClaimFault] = [], component: Component = .networkProvisioning,
        provisioning: ProvisioningOptions = ProvisioningOptions(), customEndpoint: Endpoint? = nil,
        services: [UInt8] = [0x5B, 0x5D]
    ) {
        self.nodeID = nodeID
        self.security = security
        self.patchVersion = patchVersion
        self.hasProofOfPossession = hasProofOfPossession
        self.association = association
        self.isClaimed = isClaimed
        self.macAddress = macAddress.isEmpty && !isClaimed ? nodeID : macAddress
        self.claimFaults = claimFaults
        self.component = component
        self.provisioning = provisioning
        self.customEndpoint = customEndpoint
        self.services = services
    }

    /// All endpoints of the board during provisioning.
    public var endpoints: [Endpoint] {
        var all = [Endpoint.scan, .session, .config, .version]
        if component.hasControl { all.insert(.control, at: 0) }
        if association == .userMapping { all.append(.userMapping) }
        if !isClaimed { all.append(.claim) }
        if association == .challengeResponse { all.append(.challengeResponse) }
        if hasLocalData { all += [.getParameters, .setParameters, .getConfiguration] }
        if let customEndpoint { all.append(customEndpoint) }
        return all
    }
}

extension DeviceConfiguration.Component {
    fileprivate var hasControl: Bool { self == .wifiProvisioning51 || self == .networkProvisioning }
    fileprivate var announcesSecurity: Bool { self != .wifiProvisioning44 }
}

extension DeviceConfiguration {
    /// The answer of `proto-ver` in the layout of `cJSON_Print`: tabs, and no NUL at the end.
    var versionText: [UInt8] {
        var text = bytes("{\n")
        if !isClaimed { text.append("\t\"rmaker\":\t{\n\t\t\"ver\":\t\"1.0\",\n\t\t\"cap\":\t[\"claim\"]\n\t},\n") }
        let signs = association == .challengeResponse
        if signs || hasLocalData {
            text.append("\t\"rmaker_extra\":\t{\n\t\t\"ver\":\t\"1.0\",\n\t\t\"cap\":\t[")
            if signs { text.append("\"ch_resp\"") }
            if hasLocalData { text.append(signs ? ", \"local_ctrl\"" : "\"local_ctrl\"") }
            text.append("]\n\t},\n")
        }
        text.append("\t\"prov\":\t{\n\t\t\"ver\":\t\"")
        text.append(component == .networkProvisioning ? "netprov-v1.2\"" : "v1.1\"")
        if component.announcesSecurity {
            text.append(",\n\t\t\"sec_ver\":\t")
            text.append(decimal: UInt64(security.rawValue))
            // protocomm has this key since it has patch versions, with any scheme.
            if patchVersion > 0 {
                text.append(",\n\t\t\"sec_patch_ver\":\t")
                text.append(decimal: security == .security2 ? UInt64(patchVersion) : 0)
            }
        }
        text.append(",\n\t\t\"cap\":\t[")
        if security == .security0 {
            text.append("\"no_sec\", ")
        } else if security == .security1, !hasProofOfPossession {
            text.append("\"no_pop\", ")
        }
        if component == .networkProvisioning { text.append("\"wifi_prov\", ") }
        text.append("\"wifi_scan\"]\n\t}\n}")
        return text
    }
}
