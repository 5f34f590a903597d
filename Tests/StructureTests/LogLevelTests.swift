// SPDX-License-Identifier: Apache-2.0
import TestSupport
import Testing

@Suite("Logs and hidden output")
struct LogLevelTests {
    @Test("the libraries log at debug and trace only, so that a program is silent unless it asks for more")
    func levels() throws {
        var count = 0
        for module in SourceTree.modules where !WallTests.programs.contains(module.name) {
            for file in SourceTree.files(module.path) {
                for line in try SourceTree.lines(file) where line.contains("logger.") {
                    count += 1
                    #expect(!line.contains(/logger\.(info|notice|warning|error|critical)\(/), "\(file): \(line)")
                }
            }
        }
        #expect(count > 40)
    }

    @Test("no script hides why a compiler or a packaging tool failed (scripts/quietly shows it)")
    func scripts() throws {
        let folder = Repository.path("scripts")
        let tools =
            /\b(swift (build|package)|apt-get (install|update)|debootstrap|dpkg-deb|dpkg-shlibdeps|apt-ftparchive|gpg) .*\/dev\/null/
        var count = 0
        for file in try filesBelow(folder) {
            guard let text = try? readFile("\(folder)/\(file)"), text.hasPrefix("#!") else { continue }
            count += 1
            for line in text.split(separator: "\n") where line.contains(tools) {
                Issue.record("\(file): \(line)")
            }
        }
        #expect(count > 20)
    }
}
