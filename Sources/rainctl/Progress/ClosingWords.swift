// SPDX-License-Identifier: Apache-2.0
import RainKit

/// What a person reads after everything else: how the board is called now, and what can be done with it.
///
/// Nobody waits long for it: what the cloud does not tell by then is left away.
enum ClosingWords {
    static func lines(for node: OnboardedNode, _ client: RainKitClient) async -> [String] {
        guard node.mapping == .confirmed, let id = node.nodeID else {
            return ["done: the board is set up, and in no account (--no-mapping)"]
        }
        let end = ContinuousClock.now + patience
        var known: Node?
        // A board that has just come online tells the cloud what it consists of in the same second.
        while let node = try? await withTimeout(ContinuousClock.now.duration(to: end), { try await client.node(id) }) {
            known = node
            if NodeConfiguration(node.configuration)?.components.isEmpty == false { break }
            try? await Task.sleep(for: .milliseconds(200))
            if Task.isCancelled { break }
        }
        return known.map { lines(for: $0) } ?? ["done: node \(id) is in your account"]
    }

    private static var patience: Duration { .seconds(2) }

    /// - Parameter columns: how wide the terminal is; explanations that do not fit on a line are left away.
    static func lines(for node: Node, columns: Int = TerminalSize.current.columns) -> [String] {
        let name = node.displayName.map { "\($0) (node \(node.id))" } ?? "node \(node.id)"
        let id = node.id.rawValue.asShellWord
        var next = [["rainctl node show \(id)", "what it is, and its values"]]
        let parts = NodeConfiguration(node.configuration)
        let switchable = (parts?.components ?? []).filter { !$0.isService }.lazy.compactMap { part in
            part.parameters.first { $0.dataType == "bool" && $0.isWritable }.map { "\(part.name).\($0.name)" }
        }.first
        if let switchable, switchable.isPlainWord {
            next.append(["rainctl node params set \(id) \(switchable)=true", "switches it"])
        }
        if parts?.nameParameter != nil {
            next.append(["rainctl node rename \(id) 'Kitchen lamp'", "gives it a name of yours"])
        }
        let width = next.map { $0[0].count }.max() ?? 0
        let hasRoom = next.allSatisfy { width + $0[1].count + 6 <= columns }
        return ["done: \(name) is in your account. Next:".onOneLine]
            + next.map { line in
                let gap = String(repeating: " ", count: width - line[0].count)
                return hasRoom ? "  \(line[0])\(gap)  # \(line[1])" : "  \(line[0])"
            }
    }
}

extension String {
    /// Whether a shell takes it as it is.
    fileprivate var isPlainWord: Bool {
        utf8.allSatisfy {
            UInt8(ascii: "a")...UInt8(ascii: "z") ~= $0 | 0x20 || UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0
                || "._-".utf8.contains($0)
        }
    }
}
