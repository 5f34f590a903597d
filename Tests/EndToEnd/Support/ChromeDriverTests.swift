// SPDX-License-Identifier: Apache-2.0
import Glibc
import Testing

@testable import TestSupport

@Suite("Chromium's driver is started")
struct ChromeDriverTests {
    @Test("once more where a neighbour has its port, whichever of its streams ends first")
    func portTaken() async throws {
        try await withTemporaryFolder { folder in
            let program = try script(
                in: folder,
                """
                mkdir "$0.tried" || { echo "ChromeDriver was started successfully on port 4711."; exec sleep 60; }
                echo "IPv6 port not available. Exiting..."
                exec >&-
                sleep 0.1
                echo "[SEVERE]: bind() failed: Address already in use (98)" >&2
                exit 1
                """)
            let (driver, port) = try await ChromeDriver.start(program)
            defer { driver.kill() }
            #expect(port == "4711")
        }
    }

    @Test("five times at most, and the output of both streams is reported")
    func neverStarts() async throws {
        try await withTemporaryFolder { folder in
            let program = try script(in: folder, "echo no port; echo bad >&2; echo x >>\"$0.tried\"; exit 1")
            let failure = await #expect(throws: HeadlessBrowser.Failure.self) {
                _ = try await ChromeDriver.start(program)
            }
            let told = try #require(failure?.what)
            #expect(told.contains("no port") && told.contains("bad") && told.contains("exit 1"), "\(told)")
            #expect(try readFile(program + ".tried") == "x\nx\nx\nx\nx\n")
        }
    }

    private func script(in folder: TemporaryFolder, _ body: String) throws -> String {
        try folder.write("#!/bin/sh\n\(body)\n", to: "driver")
        let path = folder.file("driver")
        #expect(chmod(path, 0o700) == 0)
        return path
    }
}
