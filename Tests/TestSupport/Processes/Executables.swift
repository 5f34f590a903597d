// SPDX-License-Identifier: Apache-2.0
import Glibc

/// The products under test, as SwiftPM built them beside the test bundle.
public enum Executables {
    /// The path of a product, such as `cloud-sim`.
    public static func path(_ name: String) throws -> String {
        let path = folder + "/" + name
        guard access(path, X_OK) == 0 else {
            throw ProcessError("\(path) is not there: run `swift build --product \(name)` first")
        }
        return path
    }

    /// Where the products are. The test run is an executable beside them.
    public static let folder: String = {
        var buffer = [CChar](repeating: 0, count: Int(PATH_MAX))
        let count = readlink("/proc/self/exe", &buffer, buffer.count)
        let own = String(decoding: buffer.prefix(max(0, count)).map { UInt8(bitPattern: $0) }, as: UTF8.self)
        return own.split(separator: "/").dropLast().reduce("") { "\($0)/\($1)" }
    }()
}

/// The checkout that the tests were built from.
public enum Repository {
    public static let folder: String = {
        // Tests/TestSupport/Processes/Executables.swift
        String(#filePath).split(separator: "/").dropLast(4).reduce("") { "\($0)/\($1)" }
    }()

    public static func path(_ relative: String) -> String { folder + "/" + relative }
}
