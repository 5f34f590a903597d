// SPDX-License-Identifier: Apache-2.0
import Glibc

/// The products under test, as SwiftPM built them beside the test bundle.
public enum Executables {
    /// Returns the path of a product, such as `cloud-sim`. For `rainctl` it is that of the installed program if `RAINKIT_RAINCTL` names one.
    ///
    /// Throws if the products were not built from the sources that are in the checkout, see ``BuildStamp``.
    public static func path(_ name: String) throws -> String {
        if name == "rainctl", let installed { return installed }
        if let problem { throw ProcessError(problem) }
        let path = folder + "/" + name
        guard access(path, X_OK) == 0 else {
            throw ProcessError("\(path) is not there: run `swift build --product \(name)` first")
        }
        return path
    }

    private static let installed = currentEnvironment()["RAINKIT_RAINCTL"]

    /// Why the products must not be tested. It is looked for once.
    private static let problem: String? = {
        do {
            return BuildStamp(in: folder).problem(files: try BuildStamp.files(of: Repository.folder))
        } catch { return "The sources of the programs under test cannot be read: \(error)" }
    }()

    /// Where the products are. The test run is an executable beside them.
    public static let folder: String = {
        testProgram.split(separator: "/").dropLast().reduce("") { "\($0)/\($1)" }
    }()

    /// The path of the test run's own program.
    static let testProgram: String = {
        var buffer = [CChar](repeating: 0, count: Int(PATH_MAX))
        let count = readlink("/proc/self/exe", &buffer, buffer.count)
        return String(decoding: buffer.prefix(max(0, count)).map { UInt8(bitPattern: $0) }, as: UTF8.self)
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
