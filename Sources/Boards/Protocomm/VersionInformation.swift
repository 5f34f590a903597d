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
        var found: BoardIdentity?
        do throws(JSONError) {
            found = try Self.identity(JSONMembers(document, takesNull: false))
        } catch {
            // A capability or a scheme that cannot be read must not count as one that the board does not name.
            throw ProvisioningError(
                .malformed, message: "The board's version information cannot be used: \(error.message).")
        }
        guard let found else {
            throw ProvisioningError(
                .malformed, message: "The board's version information has no section for provisioning.")
        }
        identity = found
    }

    /// Nil without a section that describes how the board is provisioned.
    private static func identity(_ document: JSONMembers) throws(JSONError) -> BoardIdentity? {
        let sections = ["prov", "rmaker", "rmaker_extra", "on_network", "local_ctrl"]
        var capabilities: [String] = []
        for section in document.value.members ?? [] {
            // Applications add sections of their own, which decide nothing here.
            let words =
                sections.contains(section.name)
                ? try document.object(section.name)?.texts("cap") : section.value["cap"]?.array?.compactMap(\.string)
            capabilities += (words ?? []).map { "\(section.name).\($0)" }
        }
        for name in ["on_network", "local_ctrl"] {
            if let service = try document.object(name) { return try onNetwork(service, capabilities) }
        }
        guard let provisioning = try document.object("prov") else { return nil }
        let (rainMaker, extra) = (try document.object("rmaker"), try document.object("rmaker_extra"))
        let needs = try rainMaker?.texts("cap") ?? []
        let versions = [try rainMaker?.text("ver"), try extra?.text("ver")]
        return BoardIdentity(
            security: try security(provisioning),
            association: try extra?.texts("cap")?.contains("ch_resp") == true ? .challengeResponse : .userMapping,
            needsClaim: needs.contains("claim") || needs.contains("camera_claim"),
            canScan: try provisioning.texts("cap")?.contains("wifi_scan") == true,
            version: try provisioning.text("ver") ?? "",
            rainMakerVersion: versions.compactMap(\.self).first, capabilities: capabilities)
    }

    /// A board on its network. The on-network service names no scheme (`esp_rmaker_on_network_chal_resp.c`), local control does.
    private static func onNetwork(
        _ section: JSONMembers, _ capabilities: [String]
    ) throws(JSONError) -> BoardIdentity {
        var identity = BoardIdentity(
            security: section.value["sec_ver"] == nil ? nil : try security(section), association: .challengeResponse,
            version: try section.text("ver") ?? "", capabilities: capabilities)
        identity.isOnNetwork = true
        return identity
    }

    private static func security(_ section: JSONMembers) throws(JSONError) -> SecurityRequirement {
        let capabilities = try section.texts("cap") ?? []
        let version = try section.integer("sec_ver") ?? (capabilities.contains("no_sec") ? 0 : 1)
        return SecurityRequirement(
            version: version, patch: try section.integer("sec_patch_ver") ?? 0,
            needsProofOfPossession: version == 2 || version == 1 && !capabilities.contains("no_pop"))
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
