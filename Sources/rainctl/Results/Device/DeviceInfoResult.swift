// SPDX-License-Identifier: Apache-2.0
import RainKit

/// What a board says that it is.
struct DeviceInfoResult: CommandResult {
    private var values = LabelledValues()

    var text: String { values.text }
    func encode(to encoder: any Encoder) throws { try values.encode(to: encoder) }

    init(_ identity: BoardIdentity) {
        if identity.takesCommands { addAnswer(identity) } else { addWay(identity) }
        if let printed = identity.printed { values.add(printed) }
    }

    /// What it has answered.
    private mutating func addAnswer(_ identity: BoardIdentity) {
        let version = identity.version.onOneLine
        values.add("version", identity.version, line: "version: \(version.isEmpty ? "unknown" : version)")
        // The scheme, with its patch and whether it takes a proof of possession: all three, or none where the board did not say.
        if let security = identity.security {
            let proof = security.needsProofOfPossession
            values.add(
                "security", security.version,
                line: "security: \(security.version), \(proof ? "with" : "without") proof of possession")
            values.add(memberOnly: "patch", security.patch)
            values.add(memberOnly: "proof_of_possession", proof)
        }
        values.add("node_id", identity.nodeID?.rawValue)
        values.add("association", identity.association.rawValue)
        // `null` where the board does not tell.
        values.add(memberOnly: "needs_claim", identity.needsClaim)
        switch identity.needsClaim {
        case true?: values.add(line: "needs to be claimed")
        case false?: break
        case nil: values.add(line: "needs to be claimed: unknown, its console does not tell")
        }
        values.add(memberOnly: "capabilities", identity.capabilities)
        if !identity.capabilities.isEmpty {
            values.add(line: "capabilities: \(identity.capabilities.joined(separator: " ").onOneLine)")
        }
    }

    /// It answers nothing here, and its log may say where it does.
    private mutating func addWay(_ identity: BoardIdentity) {
        values.add(memberOnly: "takes_commands", false)
        guard let way = identity.reachedAt else {
            values.add(line: "takes no commands on this port: it only prints its log")
            return
        }
        let words = String(way.prefix { $0 != ":" }).wayToBoard
        values.add("reached_at", way, line: "takes no commands on this port; it is provisioned \(words)")
        values.add("node_id", identity.nodeID?.rawValue)
    }
}

extension LabelledValues {
    /// What a board prints of itself.
    mutating func add(_ printed: PrintedIdentity) {
        if let chip = printed.chip {
            let revision = printed.revision.map { " \($0)" } ?? ""
            add("chip", chip, line: "chip: \(chip)\(revision)".onOneLine)
            if let revision = printed.revision { add(memberOnly: "chip_revision", revision) }
        }
        add("mac", printed.macAddress)
        if let application = printed.application {
            let version = printed.applicationVersion.map { " \($0)" } ?? ""
            add("application", application, line: "application: \(application)\(version)".onOneLine)
            if let version = printed.applicationVersion { add(memberOnly: "application_version", version) }
        }
        add("esp_idf", label: "ESP-IDF", printed.framework)
        add("started", label: "last start", printed.startReason)
        add("name", printed.serviceName)
        if printed.isProvisioned {
            add("has_network", true, line: "has a Wi-Fi network already, and waits for no other")
        }
        add("ip", printed.address)
    }
}
