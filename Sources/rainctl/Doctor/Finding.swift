// SPDX-License-Identifier: Apache-2.0

/// What one check of `rainctl doctor` has found.
struct Finding: Encodable, Sendable, Equatable {
    /// `warn` keeps some ways to boards, or some commands, from working; `fail` keeps the main job from it.
    enum State: String, Encodable, Sendable { case ok, warn, fail }

    /// What was looked at: a word of docs/doctor.md.
    let check: String
    let state: State
    /// What is the matter, in snake case; `ok` where nothing is.
    let reason: String
    let message: String
    /// The one command that mends it.
    var fix: String?
    /// The same for `--fix`, where no other rights are needed than the user has.
    var repair: [String]?
    /// What is said instead, as nothing that is the matter, where the cloud itself is: one cause is told once.
    var messageWithoutCloud: String?

    private enum CodingKeys: String, CodingKey { case check, state, reason, message, fix }

    static func ok(_ check: String, _ message: String) -> Finding {
        Finding(check: check, state: .ok, reason: "ok", message: message)
    }

    static func warn(_ check: String, _ reason: String, _ message: String, fix: String? = nil) -> Finding {
        Finding(check: check, state: .warn, reason: reason, message: message, fix: fix)
    }

    static func fail(_ check: String, _ reason: String, _ message: String, fix: String? = nil) -> Finding {
        Finding(check: check, state: .fail, reason: reason, message: message, fix: fix)
    }

    var blamedOnCloud: Finding { messageWithoutCloud.map { .ok(check, $0) } ?? self }

    /// With a command that needs no rights, which is shown as well.
    func repaired(by words: [String]) -> Finding {
        var finding = self
        finding.fix = words.map(\.asShellWord).joined(separator: " ")
        finding.repair = words
        return finding
    }
}
