// SPDX-License-Identifier: Apache-2.0
import RainAccount

extension ProviderDefinition {
    /// The origins (scheme, host and port: RFC 6454, section 4) that a client with these settings sends tokens and secrets to, each once
    /// and in order. One that a setting names which is not given is left out.
    ///
    /// What the server tells about itself (``discovery``) may name others; it is only asked where this says.
    public func origins(with settings: ProviderSettings) -> [String] { origins(filledWith: values(with: settings)) }

    /// The addresses of the pages for people (``links``), for a client with these settings. A page whose address needs a setting that is not
    /// given is left out.
    public func links(with settings: ProviderSettings) -> [String: String] {
        let values = values(with: settings)
        return (links ?? [:]).compactMapValues { filled(withoutMissingParts($0, values), values, isURL: true) }
    }

    private func values(with settings: ProviderSettings) -> [String: String] {
        var values: [String: String] = [:]
        for parameter in parameters ?? [] {
            values[parameter.name] = settings.parameters[parameter.name] ?? parameter.value
        }
        values["base"] = settings.base ?? (settings.environment ?? defaultEnvironment).flatMap { environments?[$0] }
        values["clientID"] = settings.clientID ?? client?.id
        return values
    }

    func origins(filledWith values: [String: String]) -> [String] {
        let templates = [issuer, discovery].compactMap(\.self) + (resources ?? ["{base}"]) + (endpoints ?? [:]).values
        return Set(templates.compactMap { origin($0, values) }).sorted()
    }
}

/// The origin of a URL template, of whose path nothing need be known.
private func origin(_ template: String, _ values: [String: String]) -> String? {
    filled(String(untilPath(withoutMissingParts(template, values))), values).map { untilPath($0).lowercased() }
}

private func untilPath(_ url: String) -> Substring {
    let rest = url.firstRange(of: "://").map { url[$0.upperBound...] } ?? url[...]
    return url[..<(rest.firstIndex { "/?#".contains($0) } ?? url.endIndex)]
}
