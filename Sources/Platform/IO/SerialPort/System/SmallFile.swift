// SPDX-License-Identifier: Apache-2.0
import Glibc

/// Files and folders of sysfs, `/proc` and udev, which are small; what is not is cut off.
enum SmallFile {
    static let limit = 16384

    /// The beginning of a file; nil where it cannot be read.
    static func text(_ path: String) -> String? {
        let descriptor = Glibc.open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { return nil }
        defer { Glibc.close(descriptor) }
        var buffer = [UInt8](repeating: 0, count: limit)
        let count = Glibc.read(descriptor, &buffer, buffer.count)
        guard count > 0 else { return nil }
        return String(decoding: buffer[..<count], as: UTF8.self)
    }

    /// The first line of a file, if it has one.
    static func line(_ path: String) -> String? {
        text(path)?.split(separator: "\n", maxSplits: 1, omittingEmptySubsequences: false).first.map(String.init)
            .flatMap { $0.isEmpty ? nil : $0 }
    }

    /// The names in a folder, without an order; none where it cannot be read.
    static func names(in folder: String) -> [String] {
        guard let directory = opendir(folder) else { return [] }
        defer { closedir(directory) }
        var names: [String] = []
        while let entry = readdir(directory) {
            names.append(
                withUnsafeBytes(of: &entry.pointee.d_name) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) })
        }
        return names
    }

    /// Where a path leads, every symbolic link followed; nil where it leads nowhere.
    static func resolved(_ path: String) -> String? {
        guard let resolved = realpath(path, nil) else { return nil }
        defer { free(resolved) }
        return String(cString: resolved)
    }
}
