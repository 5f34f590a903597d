// SPDX-License-Identifier: Apache-2.0
import TestSupport
import Testing

@Suite("docs/workshop.md")
struct WorkshopPageTests {
    @Test("the commands of one bench work one after the other")
    func oneBench() async throws {
        try await withTemporaryFolder { folder in
            let shop = try await Workshop.open(2, folder)
            try shop.write()
            try folder.write(SimulatedCloud.password, to: "password.txt")
            try folder.write(SimulatedBoard.passphrase, to: "wifi.txt")
            let page = try readFile(Repository.path("docs/workshop.md"))
            let section = try #require(page.split(separator: "\n## ").first { $0.hasPrefix("One bench") })
            let commands = section.split(separator: "\n").filter { $0.hasPrefix("rainctl ") }
            try #require(commands.count == 7, "\(section)")
            let programs = try Executables.path("rainctl").split(separator: "/").dropLast().joined(separator: "/")
            let environment = shop.maker.environment.merging(shop.radio.environment) { $1 }
                .merging(["PATH": "/\(programs):/usr/bin:/bin"]) { $1 }
            for command in commands {
                let line = command.replacing("workshop@example.com", with: SimulatedCloud.user)
                    .replacing("Home", with: SimulatedBoard.ssid)
                let ended = try await run(
                    "/bin/sh", ["-c", String(line)], environment: environment, directory: folder.path)
                #expect(ended.status == .exited(0), "\(line): \(ended.standardOutput)\(ended.standardError)")
            }
            #expect(try shop.confirmed().count == 2)
            #expect(try folder.read("report.html").contains(shop.radio.boards[0].name))
            #expect(try folder.read("labels.html").contains("<svg"))
            try await shop.close()
        }
    }
}
