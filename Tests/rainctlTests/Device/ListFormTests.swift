// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import RainIO
import TestSupport
import Testing

@testable import rainctl

@Suite("Options that every way to a command's output must respect")
struct ListFormTests {
    @Test("rainctl device commands print lists in the form of --format", arguments: [true, false])
    func scan(isTable: Bool) throws {
        let arguments = ["--transport", "softap"] + (isTable ? ["--format", "tsv"] : [])
        let command = try DeviceScan.parse(arguments)
        #expect(try command.context().output.form == (isTable ? .tsv : .text))
        let params = try DeviceParamsGet.parse(arguments)
        #expect(try params.context().output.form == (isTable ? .tsv : .text))
    }

    @Test("--format tsv and --json are refused together")
    func both() throws {
        let command = try DeviceScan.parse(["--format", "tsv", "--json"])
        #expect(throws: CommandFailure.self) { try command.context() }
    }

    @Test("below another root, /dev/ttyUSB0 means the port there, unless only this machine has it")
    func port() async throws {
        try await withTemporaryFolder { folder in
            let tree = try SystemTree(in: folder)
            try tree.write("", to: "dev/ttyUSB0")
            let files = SystemFiles(root: tree.root)
            #expect(files.device("/dev/ttyUSB0") == tree.port("ttyUSB0"))
            #expect(files.device("/dev/ttyUSB77") == tree.port("ttyUSB77"), "it may be plugged in there later")
            #expect(files.device("/dev/null") == "/dev/null")
            #expect(files.device(tree.port("ttyUSB0")) == tree.port("ttyUSB0"))
            #expect(files.device("rfc2217://host") == "rfc2217://host")
            #expect(SystemFiles().device("/dev/ttyUSB0") == "/dev/ttyUSB0")
        }
    }
}
