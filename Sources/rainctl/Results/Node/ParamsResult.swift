// SPDX-License-Identifier: Apache-2.0
import RainJSON
import RainKit

/// Values that a board has reported: `Light.Power: true` a line, or a single value alone.
struct ParamsResult: CommandResult {
    let nodeID: String
    let params: JSONValue
    private let lines: [String]

    private enum CodingKeys: String, CodingKey {
        case nodeID = "node_id"
        case params
    }

    var text: String { lines.joined(separator: "\n") }

    /// What was asked for of all values.
    struct Chosen {
        var params: JSONValue
        /// One path was named, and it leads to one value.
        var isSingle: Bool
    }

    init(node: NodeID, _ chosen: Chosen) {
        nodeID = node.rawValue
        params = chosen.params
        let changes = [ParameterChange](reported: chosen.params)
        lines =
            chosen.isSingle
            ? changes.map { $0.value.shown.withoutControls }
            : changes.map { "\($0.path): \($0.value.shown)".withoutControls }
    }

    /// A secret is shown only where its whole path is named.
    ///
    /// - Parameters:
    ///   - paths: `Light` or `Light.Power`; all if there are none. Throws `bad_data` for one that the board has not reported.
    ///   - configuration: what the board has said of itself.
    static func chosen(
        _ paths: [String], of values: JSONValue, _ node: String, _ configuration: NodeConfiguration?
    ) throws(CommandFailure) -> Chosen {
        let secrets = SecretParameters(of: configuration)
        guard !paths.isEmpty else { return Chosen(params: secrets.masked(in: values), isSingle: false) }
        let all = [ParameterChange](reported: values)
        var wanted: [ParameterChange] = []
        for path in paths {
            let found = all.filter { "\($0.path)" == path || $0.path.component == path }
            guard !found.isEmpty else {
                let known = all.prefix(20).map { "\($0.path)".onOneLine }.joined(separator: ", ")
                throw CommandFailure(
                    .badData, reason: "no_such_parameter",
                    message:
                        "\(node) has reported no \(path.onOneLine); it has "
                        + "\(known.isEmpty ? "reported nothing" : known).")
            }
            let isNamed = Self.isNamed(path, all)
            let shown = isNamed ? found : [ParameterChange](reported: secrets.masked(in: found.json))
            wanted += shown.filter { !wanted.contains($0) }
        }
        return Chosen(params: wanted.json, isSingle: paths.count == 1 && isNamed(paths[0], all))
    }

    /// Whether it leads to a value, and not to a device, whose name may have a dot, too.
    private static func isNamed(_ path: String, _ all: [ParameterChange]) -> Bool {
        all.contains { "\($0.path)" == path }
    }
}
