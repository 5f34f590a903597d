// SPDX-License-Identifier: Apache-2.0
import ESPProvisioning
import Glibc
import RainIO
import RainPrivateFiles

/// What this machine was connected by before a run took it to a board's network: a file that exists no longer than that, so that a run
/// which was killed leaves word for the next. It holds no secret.
struct NetworkJournal: Sendable {
    struct Entry: Codable, Sendable, Equatable {
        /// The interface that left its network.
        var interface: String
        /// The profile that it was connected by; nil for none.
        var previous: String?
        /// What people call that.
        var previousName: String?
        /// The profile that was joined instead.
        var temporary: String
    }

    private let document: PrivateDocument<Entry>
    private let work = BlockingWork()

    /// - Parameter folder: private to the user; made when it is needed.
    init(folder: String) { document = PrivateDocument(path: "\(folder)/network.json", maximumBytes: 1 << 14) }

    /// Whether there is a file, which is all that most starts ask.
    var exists: Bool { access(document.path, F_OK) == 0 }

    /// Whoever has it may take this machine off its network; it ends with the process that has it. Nil while another has.
    func take() async throws(ProvisioningError) -> NameLock? {
        try await work.run(noThread: Self.noThread) { [document] () throws(ProvisioningError) -> NameLock? in
            do throws(PrivateFileError) {
                return try NameLock.take("network", beside: document.path)
            } catch {
                throw Self.failure(document.path, error.description)
            }
        }
    }

    func load() async throws(ProvisioningError) -> Entry? {
        try await work.run(noThread: Self.noThread) { [document] () throws(ProvisioningError) -> Entry? in
            try document.load { Self.failure($0.path, $0.description) }
        }
    }

    /// Nil removes the file.
    func keep(_ entry: Entry?) async throws(ProvisioningError) {
        try await work.run(noThread: Self.noThread) { [document] () throws(ProvisioningError) -> Void in
            try document.change(orThrow: { Self.failure($0.path, $0.description) }) {
                (content: inout Entry?) throws(ProvisioningError) in content = entry
            }
        }
    }

    private static func failure(_ path: String, _ why: String) -> ProvisioningError {
        ProvisioningError(
            .unavailable,
            message:
                "What this machine is connected by cannot be kept in \(path), so its network is left alone: \(why)",
            reason: "cannot_write")
    }

    private static func noThread(_ error: Int32) -> ProvisioningError {
        ProvisioningError(.unavailable, message: "No thread can be started.", cause: "error \(error)")
    }
}
