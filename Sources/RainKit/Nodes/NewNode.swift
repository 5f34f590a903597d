// SPDX-License-Identifier: Apache-2.0
import ESPProvisioning
import Glibc
import RainAccount
import RainCore
import RainJSON
import RainMaker

/// A node that was just added to the account.
extension RainKitClient {
    /// Returns the node as soon as it has reported its devices and services, and its name if it has one. A board does so within a second of
    /// coming online.
    ///
    /// - Parameter limit: how long to wait for the report. Afterwards the node is returned as the cloud knows it.
    /// - Throws: `RainKitError`: the cloud's refusals.
    public func reportedNode(_ id: NodeID, within limit: Duration) async throws -> Node {
        let question = CloudQuestion(time: Timekeeper(configuration.tools.timer))
        return try await RainKitError.rethrowing { () async throws(AccountError) in
            let cloud = try cloud()
            var known: Node?
            let ending = try await question.askAgain(until: limit, .nodeStatus, atLeast: .seconds(1)) {
                () async throws(AccountError) in
                try await cloud.node(id)
            } take: { node in
                known = node
                return node.hasReported ? .done : .quiet
            }
            if let known { return known }
            switch ending {
            case .refused(let error), .late(let error?): throw error
            case .late(nil), .done: throw CloudQuestion.silence
            }
        }
    }

    /// Gives a node this machine's time zone, unless it has one. Schedules act by it.
    ///
    /// - Returns: the zone's name in the IANA database, such as `Europe/Oslo`; nil if nothing was sent. That is so if the node has no
    ///   parameter for a zone (`esp.param.tz`) or has a zone, and if this machine's zone is UTC or not known.
    /// - Throws: `RainKitError`: the cloud's refusals.
    public func setTimeZoneIfMissing(of node: Node) async throws -> String? {
        guard let place = node.timeZone, place.name.isEmpty, !place.isElsewhere,
            let zone = MachineTimeZone.name(environment: configuration.environment)
        else { return nil }
        _ = try await set([ParameterChange(place.path, .string(zone))], at: node)
        return zone
    }
}

extension Node {
    fileprivate var hasReported: Bool {
        guard let configuration = NodeConfiguration(configuration), !configuration.components.isEmpty else {
            return false
        }
        guard let name = configuration.nameParameter else { return true }
        return parameters?[name.component]?[name.parameter] != nil
    }
}

/// The time zone of this machine.
enum MachineTimeZone {
    /// The name in the IANA database; nil for UTC, which boards use anyway, and for a zone without a name.
    ///
    /// `TZ` counts first (tzset(3)), then the target of `/etc/localtime` (localtime(5)).
    static func name(environment: [String: String], localtime: String? = linkTarget("/etc/localtime")) -> String? {
        var name = environment["TZ"] ?? ""
        if name.hasPrefix(":") { name.removeFirst() }
        if name.isEmpty, let parts = localtime?.split(separator: "/"), let folder = parts.firstIndex(of: "zoneinfo") {
            name = parts[(folder + 1)...].joined(separator: "/")
        }
        let isUTC = ["UTC", "Etc/UTC", "Etc/UCT", "UCT", "Universal", "Zulu", "GMT", "Etc/GMT"].contains(name)
        return isUTC || BoardClock().reading(in: name) == nil ? nil : name
    }

    private static func linkTarget(_ path: String) -> String? {
        var buffer = [UInt8](repeating: 0, count: Int(PATH_MAX))
        let count = buffer.withUnsafeMutableBytes { bytes in
            readlink(path, bytes.baseAddress!.assumingMemoryBound(to: CChar.self), bytes.count)
        }
        return count > 0 ? String(decoding: buffer[..<count], as: UTF8.self) : nil
    }
}
