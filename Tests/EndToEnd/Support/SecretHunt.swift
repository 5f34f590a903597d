// SPDX-License-Identifier: Apache-2.0
import Foundation
import RainJSON
import TestSupport

/// Secrets that are known by name, and where any of them turned up.
struct SecretHunt {
    /// What each secret is called, by its text.
    private(set) var secrets: [String: String] = [:]
    /// The same for short ones, which count only without a letter or digit beside them.
    private var codes: [String: String] = [:]

    mutating func add(_ name: String, _ secret: String) {
        // Shorter ones would be found by chance.
        precondition(secret.utf8.count >= 8, "\(name) is too short to look for")
        secrets[secret] = name
        secrets[Data(secret.utf8).base64EncodedString()] = "\(name) in base64"
        secrets[hexString(Array(secret.utf8))] = "\(name) in hex"
        // The end of a JSON Web Token is as good as the whole.
        if secret.contains("."), let signature = secret.split(separator: ".").last, signature.utf8.count >= 20 {
            secrets[String(signature)] = "the end of \(name)"
        }
    }

    /// A code of six digits is in many a longer number by chance.
    mutating func addCode(_ name: String, _ code: String) {
        codes[code] = name
        secrets[Data(code.utf8).base64EncodedString()] = "\(name) in base64"
        secrets[hexString(Array(code.utf8))] = "\(name) in hex"
    }

    /// And the tokens of the sessions that are stored in a folder.
    func with(sessionsBelow folder: String) throws -> SecretHunt {
        var hunt = self
        for path in (try? Self.entries(below: folder)) ?? [] where path.hasSuffix(".json") {
            let session = try JSONValue(parsing: Array(readFile("\(folder)/\(path)").utf8))
            for key in ["accessToken", "refreshToken", "identityToken"] {
                if let token = session[key]?.string { hunt.add(key, token) }
            }
        }
        return hunt
    }

    /// One line for each secret that `text` holds; the secret itself is not in it.
    func findings(in text: String, of place: String) -> [String] {
        findings(in: Data(text.utf8), of: place)
    }

    private func findings(in data: Data, of place: String) -> [String] {
        let names =
            secrets.filter { data.range(of: Data($0.key.utf8)) != nil }.map(\.value)
            + codes.filter { Self.standsAlone(Data($0.key.utf8), in: data) }.map(\.value)
        return names.map { "\($0) is in \(place)" }.sorted()
    }

    private static func standsAlone(_ code: Data, in data: Data) -> Bool {
        let isWord = { (byte: UInt8) in
            (0x30...0x39).contains(byte) || (0x61...0x7A).contains(byte | 0x20)
        }
        var rest = data.startIndex..<data.endIndex
        while let found = data.range(of: code, in: rest) {
            let before = found.lowerBound > data.startIndex && isWord(data[found.lowerBound - 1])
            let after = found.upperBound < data.endIndex && isWord(data[found.upperBound])
            if !before, !after { return true }
            rest = (found.lowerBound + 1)..<data.endIndex
        }
        return false
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
