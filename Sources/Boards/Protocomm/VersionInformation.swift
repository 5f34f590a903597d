// SPDX-License-Identifier: Apache-2.0
import Protocomm
import RainJSON

/// The board's answer on `proto-ver`, parsed.
///
/// It has one section for each part of the firmware, including `prov`. `prov.sec_ver` is authoritative for the scheme. Firmware before
/// ESP-IDF 5.0 has none and reports `no_sec` instead. Very old firmware answered with a version only.
struct VersionInformation: Sendable, Equatable {
    var identity: BoardIdentity

    /// More than any firmware sends.
    static let limits = JSONLimits(maximumBytes: 8192, maximumDepth: 8)

    init(_ text: [UInt8]) throws(BoardError) {
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
            throw BoardError(
                .malformed,
                message: "The board's version information is not JSON. Check that the board is in provisioning mode.",
                cause: "\(error)")
        }
        var found: BoardIdentity?
        do throws(JSONError) {
            found = try Self.identity(JSONMembers(document, takesNull: false))
        } catch {
            // An unreadable capability or scheme must not count as missing.
            throw BoardError(
                .malformed, message: "The board's version information cannot be used: \(error.message).")
        }
        guard let found else {
            throw BoardError(
                .malformed, message: "The board's version information has no section for provisioning.")
        }
        identity = found
    }

    /// Returns nil without a section that describes how the board is provisioned.
    private static func identity(_ document: JSONMembers) throws(JSONError) -> BoardIdentity? {
        let sections = ["prov", "rmaker", "rmaker_extra", "on_network", "local_ctrl"]
        var capabilities: [String] = []
        for section in document.value.members ?? [] {
            // Applications add their own sections, which are not relevant here.
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

    /// Returns the identity of a board on its network. The on-network service names no scheme (`esp_rmaker_on_network_chal_resp.c`), but
    /// local control does.
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

extension BoardError {
    /// Converts the error for unreadable version information over a transport that changes no bytes: something other than a board answers.
    func asOtherServer(_ peer: String) -> BoardError {
        BoardError(
            .unavailable,
            message:
                "The server at \(peer) is not a board in provisioning mode: its answer is not a board's version information. Check the address.",
            cause: message, reason: "not_a_board")
    }
}
