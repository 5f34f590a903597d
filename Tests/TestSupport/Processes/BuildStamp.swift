// SPDX-License-Identifier: Apache-2.0
import Glibc

/// Compares the moment when the programs under test were built with the sources that they were built from.
///
/// The modification times of the programs themselves do not tell: SwiftPM links nothing again if no object changed.
struct BuildStamp: Sendable {
    /// What the programs are built from, relative to the checkout.
    static let sources = ["Package.swift", "Sources", "firmware-sim"]

    /// The modification time of a file, in nanoseconds since 1970.
    typealias Time = Int64

    /// When the build began. Nil if there is no stamp.
    var began: Time?

    /// Returns why the programs must not be tested. Nil if they were built from these files.
    func problem(files: [(path: String, modified: Time)]) -> String? {
        let advice = "run scripts/test, which builds first"
        guard let began else { return "It is not known what the programs under test were built from: \(advice)." }
        guard let newest = files.max(by: { $0.modified < $1.modified }), newest.modified > began else { return nil }
        return "\(newest.path) has changed since the programs under test were built: \(advice)."
    }

    /// The stamp that `scripts/test` has written into `folder`, beside the programs.
    init(in folder: String) { began = Self.modificationTime(folder + "/built-for-tests") }

    init(began: Time?) { self.began = began }

    /// Returns the files below a checkout that the programs are built from, hidden ones excepted.
    static func files(of checkout: String) throws -> [(path: String, modified: Time)] {
        try sources.flatMap { name -> [(path: String, modified: Time)] in
            var paths = [name]
            if !name.hasSuffix(".swift") { paths = try filesBelow("\(checkout)/\(name)").map { "\(name)/\($0)" } }
            return paths.compactMap { path in
                guard !path.split(separator: "/").contains(where: { $0.hasPrefix(".") }) else { return nil }
                return modificationTime("\(checkout)/\(path)").map { (path, $0) }
            }
        }
    }

    /// Returns the modification time of a file. Nil if it is not a file.
    static func modificationTime(_ path: String) -> Time? {
        var found = stat()
        guard stat(path, &found) == 0, found.st_mode & S_IFMT == S_IFREG else { return nil }
        return Time(found.st_mtim.tv_sec) * 1_000_000_000 + Time(found.st_mtim.tv_nsec)
    }
}
