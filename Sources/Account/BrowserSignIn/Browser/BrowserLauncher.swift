// SPDX-License-Identifier: Apache-2.0
import RainCore

/// Opens an address in the person's own browser: by `$BROWSER` where it is set, else by `xdg-open`.
///
/// The address is an argument of the browser's, where other users can read it. An authorization request is made for that: it holds
/// a challenge and a state, no verifier and no code.
public struct BrowserLauncher: Sendable {
    private let environment: [String: String]

    /// - Parameter environment: all that the browser inherits; leave out your own secrets.
    public init(environment: [String: String]) { self.environment = environment }

    /// The commands to try, in order. `$BROWSER` is a list separated by colons; `%s` stands for the address, which else comes last.
    public func commands(for url: String) -> [[String]] {
        let chosen = (environment["BROWSER"] ?? "").split(separator: ":").map { entry in
            let words = entry.split(separator: " ").map(String.init)
            guard words.contains("%s") else { return words + [url] }
            return words.map { $0 == "%s" ? url : $0 }
        }
        return chosen.filter { !$0.isEmpty && $0 != [url] } + [["xdg-open", url]]
    }

    /// The first program that `$BROWSER` names, if none of those that it names exists and can be run; nil otherwise.
    public var missingProgram: String? {
        // The last one is the desktop's own.
        let named = commands(for: "").dropLast().compactMap(\.first)
        let search = ProgramSearch(path: environment["PATH"])
        return named.contains { search.file(of: $0) != nil } ? nil : named.first
    }

    /// Whether a browser seems to have opened: some command succeeded, or was still running after a moment, or when the task was
    /// cancelled.
    /// - Parameter url: http or https; anything else is not opened, as a desktop might run it.
    public func open(_ url: String) async -> Bool {
        guard url.hasPrefix("https://") || url.hasPrefix("http://") else { return false }
        for command in commands(for: url) {
            let status = await DetachedProgram.run(command, environment: environment, within: .seconds(3))
            if Task.isCancelled { return true }
            switch status {
            case 0: return true
            case nil where ProgramSearch(path: environment["PATH"]).file(of: command[0]) != nil: return true
            default: continue
            }
        }
        return false
    }
}
