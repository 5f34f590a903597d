import IdentityProviders
import RainAccount
import RainMaker
import Glibc
import RainJSON

/// The providers' definitions that a user has added: JSON files in one folder, read when they are needed. Nothing is compiled.
///
/// What is in them decides where passwords are sent, so they must belong to the user or to root, and nobody else may write them.
public struct ProviderFolder: Sendable {
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
        let descriptor = open(file, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { throw failure(file, String(cString: strerror(errno))) }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            throw failure(file, "it is no file")
        }
        guard [0, geteuid()].contains(status.st_uid), status.st_mode & 0o022 == 0 else {
            throw failure(file, "somebody else may write it: chown it to yourself and chmod go-w")
        }
        let limit = ProviderDefinition.limits.maximumBytes
        var bytes = [UInt8](repeating: 0, count: limit + 1)
        var count = 0
        while count < bytes.count {
            let room = bytes.count - count
            let more = bytes.withUnsafeMutableBytes { read(descriptor, $0.baseAddress! + count, room) }
            if more == 0 { break }
            guard more > 0 else {
                if errno == EINTR { continue }
                throw failure(file, String(cString: strerror(errno)))
            }
            count += more
        }
        guard count <= limit else { throw failure(file, "it is longer than \(limit) bytes") }
        return Array(bytes[..<count])
    }

    private func failure(_ file: String, _ what: String) -> AccountError {
        AccountError(.unreadableDefinition, message: "the provider's definition \(file) cannot be used: \(what)")
    }
}
