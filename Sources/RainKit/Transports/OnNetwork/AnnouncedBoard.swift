// SPDX-License-Identifier: Apache-2.0
import ESPProvisioning
import RainDBus

/// A board that announces itself on the network: `_esp_rmaker_chal_resp._tcp`, as `esp_rmaker_on_network_chal_resp.c` of esp-rainmaker does,
/// and its local control.
struct AnnouncedBoard: Equatable {
    static let serviceType = "_esp_rmaker_chal_resp._tcp"

    /// The instance: the node's id, unless the firmware's maker has chosen another.
    var name: String
    /// Its id in the cloud, which no other board has, where the board announces it.
    var nodeID: String?
    /// Such as `node1.local`.
    var host: String
    /// `HOST:PORT`.
    var place: String
    /// `sec_version` and `pop_required`, where the board announces the former.
    var security: SecurityRequirement?

    init(_ service: DiscoveredService) {
        name = service.name
        nodeID = service.text["node_id"].flatMap { $0.isEmpty ? nil : $0 }
        host = service.host
        place = service.place
        guard let version = service.text["sec_version"].flatMap({ Int($0) }), (0...2).contains(version) else { return }
        security = SecurityRequirement(
            version: version,
            // Firmware leaves it away for Security 2, which always wants one.
            needsProofOfPossession: version == 2
                || version == 1 && service.text["pop_required"]?.lowercased() != "false")
    }

    /// Whether both are one board, heard at several interfaces.
    func isSame(as other: AnnouncedBoard) -> Bool {
        if let nodeID, let id = other.nodeID { return nodeID == id }
        return name == other.name && host == other.host
    }

    /// What tells it from all others.
    var label: String { nodeID ?? "\(name) (\(place))" }

    /// Whether a person may mean it by this: its node id, its host or its name. On a network where names are taken, a host gives its
    /// services other ones: `Lamp #2` (Avahi), `Lamp-2` (ESP-IDF's mdns).
    func answers(to text: String) -> Bool {
        let text = text.lowercased()
        return isNamed(exactly: text) || Self.withoutNumber(name.lowercased()) == text
    }

    /// Whether the text names this board and no other: `Lamp` may stand for `Lamp #2` as well.
    func isNamed(exactly text: String) -> Bool {
        let text = text.lowercased()
        let host = host.lowercased()
        return nodeID?.lowercased() == text || name.lowercased() == text || host == text || host == "\(text).local"
    }

    private static func withoutNumber(_ name: String) -> String? {
        let digits = name.reversed().prefix { $0.isASCII && $0.isNumber }.count
        let rest = name.dropLast(digits)
        guard (1...3).contains(digits) else { return nil }
        if rest.hasSuffix(" #") { return String(rest.dropLast(2)) }
        return rest.hasSuffix("-") ? String(rest.dropLast()) : nil
    }
}
