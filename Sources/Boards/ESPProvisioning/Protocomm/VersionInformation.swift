// SPDX-License-Identifier: Apache-2.0
import RainJSON

/// The text that a board answers on `proto-ver`, read.
///
/// One section for each part of the firmware, `prov` among them; `prov.sec_ver` is authoritative for the scheme, and only
/// firmware before ESP-IDF 5.0, which does not have it, says `no_sec` instead. Ancient firmware answered a bare version.
struct VersionInformation: Sendable, Equatable {
    var identity: BoardIdentity

    /// More than any firmware sends; a board has to describe itself within this.
    static let limits = JSONLimits(maximumBytes: 8192, maximumDepth: 8)

    init(_ text: [UInt8]) throws(ProvisioningError) {
        // Firmware of 2019 and 2020 answered `V0.1`: no JSON, Security 1 with a proof of possession.
        if text.first == UInt8(ascii: "V"), text.count <= 16 {
            identity = BoardIdentity(
                security: SecurityRequirement(version: 1, needsProofOfPossession: true), association: .userMapping,
                version: String(decoding: text, as: UTF8.self))
            return
        }
        let document: JSONValue
        do {
            document = try JSONValue(parsing: text, limits: Self.limits)
        } catch {
            throw ProvisioningError(
                .malformed, message: "The board's version information is not JSON. Is it in provisioning mode?",
                cause: "\(error)")
        }
        guard case .object(let sections) = document else { throw Self.noSection }
        let capabilities = sections.flatMap { section in
            Self.words(section.value["cap"]).map { "\(section.name).\($0)" }
        }
        if let service = document["on_network"] ?? document["local_ctrl"] {
            identity = Self.onNetwork(service, capabilities)
            return
        }
        guard let provisioning = document["prov"] else { throw Self.noSection }
        let rainMaker = Self.words(document["rmaker"]?["cap"])
        identity = BoardIdentity(
            security: Self.security(provisioning),
            association: Self.words(document["rmaker_extra"]?["cap"]).contains("ch_resp")
                ? .challengeResponse : .userMapping,
            needsClaim: rainMaker.contains("claim") || rainMaker.contains("camera_claim"),
            canScan: Self.words(provisioning["cap"]).contains("wifi_scan"),
            version: Self.word(provisioning["ver"]) ?? "",
            rainMakerVersion: Self.word(document["rmaker"]?["ver"]) ?? Self.word(document["rmaker_extra"]?["ver"]),
            capabilities: capabilities)
    }

    private static var noSection: ProvisioningError {
        ProvisioningError(.malformed, message: "The board's version information has no section for provisioning.")
    }

    /// A board on its network. The on-network service names no scheme (`esp_rmaker_on_network_chal_resp.c`), local control does.
    private static func onNetwork(_ section: JSONValue, _ capabilities: [String]) -> BoardIdentity {
        var identity = BoardIdentity(
            security: section["sec_ver"] == nil ? nil : security(section), association: .challengeResponse,
            version: word(section["ver"]) ?? "", capabilities: capabilities)
        identity.isOnNetwork = true
        return identity
    }

    private static func security(_ section: JSONValue) -> SecurityRequirement {
        let capabilities = words(section["cap"])
        let version = integer(section["sec_ver"]) ?? (capabilities.contains("no_sec") ? 0 : 1)
        return SecurityRequirement(
            version: version, patch: integer(section["sec_patch_ver"]) ?? 0,
            needsProofOfPossession: version == 2 || version == 1 && !capabilities.contains("no_pop"))
    }

    private static func words(_ value: JSONValue?) -> [String] {
        guard case .array(let elements)? = value else { return [] }
        return elements.compactMap { word($0) }
    }

    private static func word(_ value: JSONValue?) -> String? {
        guard case .string(let text)? = value else { return nil }
        return text
    }

    private static func integer(_ value: JSONValue?) -> Int? {
        guard case .integer(let number)? = value else { return nil }
        return Int(exactly: number)
    }
}

extension ProvisioningError {
    /// The meaning of version information that cannot be read, over a transport that changes no bytes: something else answers there.
    func asOtherServer(_ peer: String) -> ProvisioningError {
        ProvisioningError(
            .unavailable,
            message:
                "What answers at \(peer) is not a board in provisioning mode: its version information is not one. Check the address.",
            cause: message, reason: "not_a_board")
    }
}
