// SPDX-License-Identifier: Apache-2.0
import RainKit

/// A provider as a person reads about it.
extension ProviderDefinition {
    /// Its name and what it can do.
    var line: String {
        let can = capabilities.filter(\.isAvailable).map(\.grant.rawValue)
        return "\(id)  \((title ?? id).onOneLine): \(can.joined(separator: ", "))"
    }

    /// Everything: what it cannot do and why, and the options that it takes.
    /// - Parameter links: the addresses of its pages.
    func details(links: [String: String]) -> String {
        var lines = ["\(id)  \((title ?? id).onOneLine)"]
        for capability in capabilities {
            let answer = capability.whyNot.map { "no. \($0.onOneLine.asSentence)" } ?? "yes"
            lines.append("  \(capability.grant.rawValue): \(answer)")
        }
        for mode in modes ?? [] {
            let usual = mode == modes?.first ? " (usual)" : ""
            lines.append("  --mode \(mode): \(grant(ofMode: mode)?.rawValue ?? mode)\(usual)")
        }
        for secret in secrets ?? [] {
            lines.append("  --secret-file \(secret.name)=FILE\(secret.description.map { ": \($0.onOneLine)" } ?? "")")
        }
        for parameter in parameters ?? [] {
            let must = parameter.required == true ? " (required)" : ""
            lines.append("  --set \(parameter.name)=…\(must)\(parameter.description.map { ": \($0.onOneLine)" } ?? "")")
        }
        for (name, url) in links.sorted(by: { $0.key < $1.key }) {
            lines.append("  \(name): \(url.onOneLine)")
        }
        return lines.joined(separator: "\n")
    }
}
