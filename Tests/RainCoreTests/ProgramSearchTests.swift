// SPDX-License-Identifier: Apache-2.0
import Glibc
import RainCore
import TestSupport
import Testing

@Suite("Search for programs")
struct ProgramSearchTests {
    @Test(
        "only the absolute entries of PATH are searched",
        arguments: [
            ("/opt/bin:/usr/bin", ["/opt/bin", "/usr/bin"]), (":/usr/bin", ["/usr/bin"]), ("/usr/bin:", ["/usr/bin"]),
            ("/usr/bin::/bin", ["/usr/bin", "/bin"]), (".:/usr/bin", ["/usr/bin"]), ("/bin:..", ["/bin"]),
            ("bin:/bin:./tools:../x", ["/bin"]), ("~/bin:/bin", ["/bin"]), ("$HOME/bin:/bin", ["/bin"]),
        ])
    func entries(path: String, folders: [String]) {
        #expect(ProgramSearch(path: path).folders == folders)
        #expect(ProgramSearch(path: path).path == folders.joined(separator: ":"))
    }

    @Test("without an absolute entry the system's folders are searched", arguments: [nil, "", ":", ".", "bin:", "::"])
    func usual(path: String?) {
        #expect(ProgramSearch(path: path).folders == ["/usr/local/bin", "/usr/bin", "/bin"])
    }

    @Test("a name leads to the first file that may be run, not to a folder or a text")
    func file() async throws {
        try await withTemporaryFolder { folder in
            for name in ["a", "b", "c", "c/tool"] { try folder.makeFolder(name) }
            try folder.write("", to: "a/other")
            try folder.write("not a program", to: "b/tool")
            try folder.makeFolder("a/tool")
            try folder.makeFolder("d")
            try folder.write("#!/bin/sh\n", to: "d/tool")
            #expect(chmod(folder.file("d/tool"), 0o755) == 0)
            let path = ["a", "b", "c", "d"].map(folder.file).joined(separator: ":")
            let search = ProgramSearch(path: path)
            #expect(search.file(of: "tool") == folder.file("d/tool"))
            #expect(search.file(of: folder.file("d/tool")) == folder.file("d/tool"))
            for absent in ["other", "nothing", "", ".", "..", folder.file("b/tool"), folder.file("a"), "d/tool"] {
                #expect(search.file(of: absent) == nil, "\(absent)")
            }
        }
    }
}
