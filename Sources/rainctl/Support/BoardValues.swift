// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import RainKit
import RainMaker

/// Values of a command for several boards: `Light.Power=on` is for all of them, `Hall:Light.Power=off` for the board Hall.
struct BoardValues: Sendable {
    private let texts: [String]

    /// - Parameter texts: as ``GivenValue/validate(_:)`` accepts them.
    init(_ texts: [String]) { self.texts = texts }

    var isEmpty: Bool { texts.isEmpty }

    /// Returns the values of each board, checked against its node configuration. A value for a single board replaces one for all boards. A
    /// board without values is absent.
    ///
    /// - Throws: `usage` for a board that is not one of `nodes`, and for two values of one parameter. `several_nodes` for a name that
    ///   several of them have. The codes of `ParameterError`.
    func changes(at nodes: [Node]) throws -> [NodeID: [ParameterChange]] {
        var common: [String] = []
        var own: [NodeID: [String]] = [:]
        for text in texts {
            guard let (path, value) = GivenValue.parts(text) else { continue }
            if let (node, rest) = try Self.board(in: path, nodes) {
                own[node, default: []].append("\(rest)=\(value)")
            } else {
                common.append(text)
            }
        }
        var changes: [NodeID: [ParameterChange]] = [:]
        for node in nodes {
            let texts = own[node.id] ?? []
            do { try GivenValue.validate(texts) } catch let error as ValidationError {
                throw CommandFailure(.usage, message: "\(node.shownName): \(error.message)")
            }
            let paths = Set(texts.compactMap { GivenValue.parts($0)?.path })
            let others = common.filter { text in GivenValue.parts(text).map { !paths.contains($0.path) } ?? false }
            if let all = try GivenValue.changes(others + texts, at: node) { changes[node.id] = all }
        }
        return changes
    }

    /// Returns the values of all boards, in their order, as ``changes(at:)`` does. A board without values has none.
    func ofEach(of nodes: [Node]) throws -> [(node: Node, changes: [ParameterChange])] {
        let changes = try changes(at: nodes)
        return nodes.map { (node: $0, changes: changes[$0.id] ?? []) }
    }

    /// Returns the board that a path such as `Hall:Light.Power` begins with, and the rest; nil for a path without a board.
    private static func board(in path: String, _ nodes: [Node]) throws(CommandFailure) -> (NodeID, String)? {
        let colons = path.indices.filter { path[$0] == ":" }
        // Names of devices may contain colons, too.
        guard !colons.isEmpty, !nodes.contains(where: { $0.hasParameter(path) }) else { return nil }
        for colon in colons.reversed() {
            let (name, rest) = (String(path[..<colon]), path[path.index(after: colon)...])
            guard GivenValue.isPath(rest) else { continue }
            let found =
                nodes.first { $0.id.rawValue == name }.map { [$0] }
                ?? nodes.filter { $0.displayName?.lowercased() == name.lowercased() }
            if found.count == 1 { return (found[0].id, String(rest)) }
            guard found.isEmpty else {
                throw CommandFailure(
                    .usage, reason: "several_nodes",
                    message:
                        "Several boards of this command are called \(name.onOneLine): use a node id, \(found.map(\.id.rawValue.onOneLine).joined(separator: " or "))."
                )
            }
        }
        let name = path[..<(colons.last ?? path.startIndex)]
        throw CommandFailure(
            .usage,
            message: "A value is given for the board \(String(name).onOneLine), but this command is not for that board."
        )
    }
}

extension Node {
    /// Whether the node has this parameter, so that the text is a path and nothing else.
    fileprivate func hasParameter(_ text: String) -> Bool {
        guard let configuration = NodeConfiguration(configuration), let path = try? configuration.path(text) else {
            return false
        }
        return configuration.component(path.component)?.parameter(path.parameter) != nil
    }
}
