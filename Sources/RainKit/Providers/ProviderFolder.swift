// SPDX-License-Identifier: Apache-2.0
import IdentityProviders
import RainAccount
import RainMaker
import Glibc
import RainJSON
import RainPrivateFiles

/// The providers' definitions that a user has added: JSON files in one folder, read when they are needed. Nothing is compiled.
///
/// What is in them decides where passwords are sent, so they must belong to the user or to root, and nobody else may write them.
public struct ProviderFolder: Sendable {
    /// The folder; it may be absent.
    public let path: String

    /// A folder with more files than that holds something else.
    public static let maximumFiles = 64

    public init(path: String) { self.path = path }

    /// The providers built in and those of the folder, and what is wrong with files that are no definitions.
    /// - Throws: `unreadableDefinition` for a folder with too many files.
    public func load() throws(AccountError) -> (registry: ProviderRegistry, problems: [String: AccountError]) {
        var registry = ProviderRegistry.builtIn
        var problems: [String: AccountError] = [:]
        for name in try names() {
            do throws(AccountError) {
                try registry.add(parsing: try contents(of: name), origin: "\(path)/\(name)")
            } catch {
                problems[String(name.dropLast(5))] = error
            }
        }
        return (registry, problems)
    }

    /// The provider of that name; one whose file is wrong is an error that says so.
    public func entry(_ id: String) throws(AccountError) -> ProviderRegistry.Entry {
        let (registry, problems) = try load()
        do throws(AccountError) {
            return try registry.entry(id)
        } catch {
            throw problems[id] ?? error
        }
    }

    /// The folder's JSON files, in their order; none where there is no folder.
    private func names() throws(AccountError) -> [String] {
        guard let folder = opendir(path) else { return [] }
        defer { closedir(folder) }
        var names: [String] = []
        while let entry = readdir(folder) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) { pointer in
                pointer.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            guard name.hasSuffix(".json"), !name.hasPrefix(".") else { continue }
            names.append(name)
            guard names.count <= Self.maximumFiles else {
                throw AccountError(
                    .unreadableDefinition,
                    message: "\(path) has more than \(Self.maximumFiles) files; keep there only what is used")
            }
        }
        return names.sorted()
    }

    private func contents(of name: String) throws(AccountError) -> [UInt8] {
        let file = "\(path)/\(name)"
        let limit = ProviderDefinition.limits.maximumBytes
        do throws(PrivateFileError) {
            if let bytes = try OwnedFile.contents(of: file, maximumBytes: limit) { return bytes }
        } catch {
            throw failure(file, error.code == .tooLarge ? "it is longer than \(limit) bytes" : "\(error)")
        }
        throw failure(file, "it is not there any more")
    }

    private func failure(_ file: String, _ what: String) -> AccountError {
        AccountError(.unreadableDefinition, message: "the provider's definition \(file) cannot be used: \(what)")
    }
}
