import Foundation
import JSON
import TestSupport

/// Secrets that are known by name, and where any of them turned up.
struct SecretHunt {
    /// What each secret is called, by its text.
    private(set) var secrets: [String: String] = [:]

    mutating func add(_ name: String, _ secret: String) {
        // Shorter ones would be found by chance.
        precondition(secret.utf8.count >= 8, "\(name) is too short to look for")
        secrets[secret] = name
        secrets[Data(secret.utf8).base64EncodedString()] = "\(name) in base64"
        secrets[secret.utf8.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()] = "\(name) in hex"
        // The end of a JSON Web Token is as good as the whole.
        if secret.contains("."), let signature = secret.split(separator: ".").last, signature.utf8.count >= 20 {
            secrets[String(signature)] = "the end of \(name)"
        }
    }

    /// One line for each secret that `text` holds; the secret itself is not in it.
    func findings(in text: String, of place: String) -> [String] {
        findings(in: Data(text.utf8), of: place)
    }

    private func findings(in data: Data, of place: String) -> [String] {
        secrets.filter { data.range(of: Data($0.key.utf8)) != nil }.map { "\($0.value) is in \(place)" }.sorted()
    }

    /// Looks into every file below a folder but those that `exempt` names by their path inside it.
    func findings(below folder: String, but exempt: (String) -> Bool) throws -> [String] {
        var found: [String] = []
        for path in try Self.entries(below: folder) where !exempt(path) {
            let full = "\(folder)/\(path)"
            guard try Self.type(of: full) == .typeRegular else { continue }
            found += findings(in: try Data(contentsOf: URL(fileURLWithPath: full)), of: path)
            // A name can hold a secret too.
            found += findings(in: path, of: "the name of \(path.utf8.count) bytes")
        }
        return found
    }

    static func entries(below folder: String) throws -> [String] {
        try FileManager.default.subpathsOfDirectory(atPath: folder).sorted()
    }

    static func type(of path: String) throws -> FileAttributeType? {
        try FileManager.default.attributesOfItem(atPath: path)[.type] as? FileAttributeType
    }

    /// The permissions of a file, such as 0o600; nil if it is not there.
    static func mode(of path: String) -> Int? {
        let attributes = try? FileManager.default.attributesOfItem(atPath: path)
        return (attributes?[.posixPermissions] as? NSNumber)?.intValue
    }
}
