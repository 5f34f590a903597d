// SPDX-License-Identifier: Apache-2.0
import Glibc
import RainCore
import RainJSON
import RainQRCode
import TestSupport
import Testing

@Suite("rainctl station", .serialized, .browser)
struct StationTests {
    /// A workshop with a board, the last one unless it is named, that has no proof of possession in the file, so that it fails.
    private func shop(_ count: Int, failing: Int? = nil, _ folder: TemporaryFolder) async throws -> Workshop {
        let shop = try await Workshop.open(count, folder)
        let lines = shop.radio.boards.enumerated().map { index, board in
            "\(board.name),ble,\(index == failing ?? count - 1 ? "" : board.proofOfPossession)"
        }
        try folder.write((["name,transport,pop"] + lines).joined(separator: "\n") + "\n", to: "boards.csv")
        return shop
    }

    @Test("200 boards are shown live, and the work of the page is that of the rows that changed")
    func manyBoards() async throws {
        try await withTemporaryFolder { folder in
            let shop = try await shop(200, failing: 5, folder)
            let station = try await RunningStation.start(shop, [folder.file("boards.csv"), "--at-once", "40"])
            try await HeadlessBrowser.withFreshPage { browser in
                try await browser.send(
                    "Emulation.setDeviceMetricsOverride",
                    ["width": 1280, "height": 900, "deviceScaleFactor": 1, "mobile": false])
                try await browser.open(station.link)
                #expect(try await browser.address == station.base)
                // Counts what the page really changes, independently of its own count.
                try await browser.run(
                    """
                    window.changed = 0;
                    new MutationObserver(list => { window.changed += list.length; })
                      .observe(document.body, { childList: true, subtree: true, characterData: true, attributes: true });
                    window.rowsBefore = window.stationWork.rows;
                    """)
                if currentEnvironment()["RAINKIT_RECORD"] == "1" {
                    try await browser.run("return Number(document.getElementById('count-done').textContent)") {
                        ($0.integer ?? 0) >= 80
                    }
                    try await browser.save("docs/pictures/station.png")
                }
                try await browser.wait(for: "#activity", toContain: "All boards are finished.", within: .waitLimit * 4)
                let failures = try await browser.run(
                    """
                    return [...document.querySelectorAll('section[data-state=failed] li')].map(e => e.textContent)
                    """)
                try #require(failures.array?.count == 1, "\(failures)")
                try await browser.wait(for: "#count-done", toBe: "199")
                try await browser.wait(for: "#count-failed", toBe: "1")
                let work = try await browser.run(
                    "return { ...window.stationWork, changed: window.changed, before: window.rowsBefore }")
                let rows = (work["rows"]?.integer ?? 0) - (work["before"]?.integer ?? 0)
                let (updates, changed) = (work["updates"]?.integer ?? 0, work["changed"]?.integer ?? 0)
                // A row that changes has at most ten parts, and an update at most 40 elements outside of the rows.
                #expect(changed <= rows * 10 + updates * 40, "\(work)")
                #expect(try await browser.run("return document.querySelectorAll('#boards li').length").integer == 200)
                let done = try await browser.run(
                    "return document.querySelectorAll('section[data-state=done] li').length")
                #expect(done.integer == 199)
                let complaints = try await browser.complaints()
                #expect(complaints == [])
            }
            #expect(try await station.interrupt() == .exited(20))
            #expect(Set(try shop.confirmed()).count == 199)
            try await shop.close()
        }
    }

    @Test("a failed board shows its remedy, and is tried again with the keyboard; the page is accessible everywhere")
    func failure() async throws {
        let axe = try readFile(try await ForeignClient.axe.path())
        try await withTemporaryFolder { folder in
            let shop = try await shop(4, folder)
            let station = try await RunningStation.start(shop, [folder.file("boards.csv")])
            try await HeadlessBrowser.withFreshPage { browser in
                try await browser.open(station.link)
                try await browser.wait(for: "#count-failed", toBe: "1", within: .waitLimit)
                try await browser.wait(for: "#count-done", toBe: "3", within: .waitLimit)
                try await browser.wait(for: "#board-5 .message", toContain: "proof of possession", within: .waitLimit)
                let remedy = try await browser.run("return document.querySelector('#board-5 .remedy')?.textContent")
                #expect(remedy.string?.isEmpty == false)

                // Everything can be reached with the keyboard alone.
                var reached: Set<String> = []
                for _ in 0..<20 {
                    try await browser.press("\u{E004}")
                    let label = try await browser.run(
                        "const e = document.activeElement; return e.getAttribute('aria-label') || e.id || e.textContent"
                    )
                    if let label = label.string { reached.insert(label) }
                }
                let name = shop.radio.boards[3].name
                #expect(
                    reached.isSuperset(of: ["retry-all", "open-scan", "Report", "search", "Try \(name) again"]),
                    "\(reached)")

                for scheme in ["light", "dark"] {
                    try await browser.send(
                        "Emulation.setEmulatedMedia",
                        ["features": [["name": "prefers-color-scheme", "value": .string(scheme)]]])
                    #expect(try await browser.violations(axe) == [], "\(scheme)")
                    for dialog in ["scan", "link"] {
                        try await browser.click("#open-\(dialog)")
                        try await browser.run("return document.getElementById('\(dialog)').open") { $0 == true }
                        #expect(try await browser.violations(axe) == [], "\(dialog) \(scheme)")
                        try await browser.press("\u{E00C}")
                        try await browser.run("return document.getElementById('\(dialog)').open") { $0 == false }
                    }
                }
                for width in [360, 768] {
                    try await browser.send(
                        "Emulation.setDeviceMetricsOverride",
                        ["width": .integer(Int64(width)), "height": 740, "deviceScaleFactor": 2, "mobile": true])
                    let overflow = try await browser.run(
                        "return document.documentElement.scrollWidth - document.documentElement.clientWidth")
                    #expect(overflow.integer == 0, "\(width)")
                    #expect(try await browser.violations(axe) == [], "\(width)")
                }

                try await browser.run("document.querySelector('#board-5 .retry').focus()")
                try await browser.press("\u{E007}")
                try await browser.wait(for: "#board-5 .place", toContain: "attempt 2", within: .waitLimit)
                // A board that is being provisioned cannot be tried again.
                try await browser.wait(for: "#count-failed", toBe: "1", within: .waitLimit)
                try await browser.wait(for: "#board-5 .message", toContain: "proof of possession", within: .waitLimit)
                // The focus did not fall back to the page's beginning.
                #expect(try await browser.run("return document.activeElement !== document.body") == true)
                try await browser.click("#retry-all")
                try await browser.wait(for: "#board-5 .place", toContain: "attempt 3", within: .waitLimit)
                try await browser.wait(for: "#count-failed", toBe: "1", within: .waitLimit)
                let complaints = try await browser.complaints()
                #expect(complaints == [])
                for path in ["report.html", "labels.html"] {
                    try await browser.open(station.base + path)
                    _ = try await browser.text(containing: name)
                    #expect(try await browser.violations(axe) == [], "\(path)")
                }
            }
            #expect(try await station.interrupt() == .exited(20))
            try await shop.close()
        }
    }

    @Test("a scanned label gives a board that appeared its proof of possession")
    func scan() async throws {
        try await withTemporaryFolder { folder in
            let shop = try await Workshop.open(2, folder)
            let station = try await RunningStation.start(shop, ["--discover", "--transport", "ble"])
            try await HeadlessBrowser.withFreshPage { browser in
                try await browser.open(station.link)
                try await browser.wait(for: "#count-failed", toBe: "2", within: .waitLimit)
                try await browser.click("#open-scan")
                let board = shop.radio.boards[1]
                let label = """
                    {"ver":"v1","name":"\(board.name)","pop":"\(board.proofOfPossession)","transport":"ble"}
                    """
                folder.writePrivately(try QRMatrix(Array(label.utf8)).png(), to: "label.png")
                try await browser.type(folder.file("label.png"), into: "#picture")
                try await browser.wait(for: "#scan-result", toContain: "again, with the scanned code")
                try await browser.wait(for: "#count-done", toBe: "1", within: .waitLimit)
                folder.writePrivately(try QRMatrix(Array("https://example.com/".utf8)).png(), to: "other.png")
                try await browser.type(folder.file("other.png"), into: "#picture")
                try await browser.wait(for: "#scan-result", toContain: "web address")
                try folder.write("no picture", to: "text.png")
                try await browser.type(folder.file("text.png"), into: "#picture")
                try await browser.wait(for: "#scan-result", toContain: "cannot be read")
                #expect(try shop.confirmed() == [board.nodeID])

                // The camera's pictures go the same way. A drawing replaces the camera.
                let other = shop.radio.boards[0]
                let code = try QRMatrix(
                    Array(
                        "{\"ver\":\"v1\",\"name\":\"\(other.name)\",\"pop\":\"\(other.proofOfPossession)\",\"transport\":\"ble\"}"
                            .utf8)
                ).png()
                try await browser.run(
                    #"""
                    return (async () => {
                    const bytes = Uint8Array.from(atob("\#(Base64.text(code))"), c => c.charCodeAt(0));
                    const image = await createImageBitmap(new Blob([bytes], { type: "image/png" }));
                    const canvas = document.createElement("canvas");
                    [canvas.width, canvas.height] = [640, 640];
                    const draw = () => {
                      const context = canvas.getContext("2d");
                      context.fillStyle = "#fff"; context.fillRect(0, 0, 640, 640);
                      context.imageSmoothingEnabled = false; context.drawImage(image, 20, 20, 600, 600);
                    };
                    draw(); setInterval(draw, 50);
                    navigator.mediaDevices.getUserMedia = async () => canvas.captureStream(20);
                    })()
                    """#)
                try await browser.click("#start-camera")
                try await browser.wait(for: "#count-done", toBe: "2", within: .waitLimit)
            }
            let status = try await station.interrupt()
            #expect(status == .exited(0), "\(station.process.standardError)")
            try await shop.close()
        }
    }

    @Test("the page connects again to a station that restarts, and says what to do if its link is another")
    func restart() async throws {
        try await withTemporaryFolder { folder in
            let shop = try await shop(2, folder)
            let first = try await RunningStation.start(shop, [folder.file("boards.csv")])
            let port = first.base.split(separator: ":").last.map { String($0.filter(\.isNumber)) } ?? ""
            _ = try await first.interrupt()
            let arguments = [folder.file("boards.csv"), "--listen", "127.0.0.1:\(port)"]
            let second = try await RunningStation.start(shop, arguments)
            try await HeadlessBrowser.withFreshPage { browser in
                try await browser.open(second.link)
                try await browser.wait(for: "#connection", toBe: "Live")
                try await browser.wait(for: "#count-done", toBe: "1", within: .waitLimit)
                second.process.kill()
                _ = try await second.process.wait()
                try await browser.wait(for: "#connection", toContain: "No connection")
                let third = try await RunningStation.start(shop, arguments)
                try await browser.wait(for: "#connection", toBe: "Live", within: .waitLimit)
                try await browser.wait(for: "#count-failed", toBe: "1")
                third.process.kill()
                _ = try await third.process.wait()
                try folder.write("{}", to: "state/rainkit/station-pages.json")
                let fourth = try await RunningStation.start(shop, arguments)
                try await browser.wait(for: "#connection", toContain: "Open the link", within: .waitLimit)
                try await browser.open(fourth.link)
                try await browser.wait(for: "#connection", toBe: "Live")
                _ = try await fourth.interrupt()
            }
            try await shop.close()
        }
    }

    @Test("without the link, or for another origin or host, nothing is served")
    func strangers() async throws {
        try await withTemporaryFolder { folder in
            let shop = try await shop(1, folder)
            let station = try await RunningStation.start(shop, [folder.file("boards.csv")])
            let origin = String(station.base.dropLast())
            let jar = folder.file("cookies")
            func curl(_ arguments: [String]) async throws -> (status: String, text: String) {
                let finished = try await run(
                    "curl", ["-s", "--max-time", "20", "--noproxy", "*", "-w", "\n%{http_code}"] + arguments)
                let lines = finished.standardOutput.split(separator: "\n", omittingEmptySubsequences: false)
                return (String(lines.last ?? ""), lines.dropLast().joined(separator: "\n"))
            }
            let paths = [
                "", "station.js", "station.css", "icon.svg", "events", "report.csv", "report.html", "labels.html", "x",
                "?token=wrong", "events?token=\(station.link.split(separator: "=").last ?? "")",
            ]
            for path in paths {
                let answer = try await curl([station.base + path])
                #expect(answer.status == "403" && !answer.text.contains("<"), "\(path) \(answer)")
            }
            #expect(try await curl([station.link, "-H", "Host: evil.example"]).status == "403")
            #expect(try await curl([station.link, "-H", "Origin: http://evil.example"]).status == "403")
            #expect(try await curl([station.link, "-H", "Sec-Fetch-Site: cross-site"]).status == "403")
            // A stranger's body is not read.
            folder.writePrivately([UInt8](repeating: 0x41, count: 1 << 20), to: "body")
            #expect(
                try await curl(["-H", "Expect:", "--data-binary", "@\(folder.file("body"))", station.base + "scan"])
                    .status
                    == "403")

            // None of that used the link up.
            let opened = try await curl(["-c", jar, "-D", folder.file("head"), station.link])
            #expect(opened.status == "303")
            let head = try folder.read("head")
            #expect(head.contains("HttpOnly; SameSite=Strict") && head.contains("no-store"), "\(head)")
            #expect(try await curl([station.link]).status == "403")
            let page = try await curl(["-b", jar, "-D", folder.file("head"), station.base])
            #expect(page.status == "200" && page.text.contains("<title>"))
            let policy = try folder.read("head")
            #expect(policy.contains("default-src 'none'; script-src 'self'") && !policy.contains("unsafe"))

            let evil = ["-b", jar, "-H", "Origin: http://evil.example"]
            for path in paths { #expect(try await curl(evil + [station.base + path]).status == "403") }
            for path in ["retry", "continue", "scan", "link"] {
                #expect(try await curl(evil + ["-d", "{}", station.base + path]).status == "403")
                #expect(try await curl(["-b", jar, "-d", "{}", station.base + path]).status == "403")
            }
            let host = ["-b", jar, "-H", "Cookie: \(try cookie(jar))", "-H", "Host: evil.example"]
            for path in paths { #expect(try await curl(host + [station.base + path]).status == "403") }

            let own = ["-b", jar, "-H", "Origin: \(origin)"]
            #expect(try await curl(own + ["-d", "{}", station.base + "retry"]).status == "200")
            for body in ["", "[]", "{\"lines\":\"1\"}", "{\"lines\":[null]}", "{\"lines\":[1", "x"] {
                #expect(try await curl(own + ["-d", body, station.base + "retry"]).status == "400", "\(body)")
            }
            folder.writePrivately([UInt8](repeating: 0x20, count: (1 << 20) + 1), to: "body")
            #expect(
                try await curl(own + ["--data-binary", "@\(folder.file("body"))", station.base + "retry"]).status
                    == "413")
            #expect(try await curl(own + ["-X", "DELETE", station.base + "retry"]).status == "405")
            #expect(try await curl(own + [station.base + "x"]).status == "404")
            #expect(try await curl(own + ["--path-as-is", station.base + "../../etc/passwd"]).status == "404")
            // Pages that are open while the station ends do not hold it up.
            let watcher = try await ChildProcess.start(
                "curl", ["-sN", "--noproxy", "*"] + own + [station.base + "events"])
            while let line = try await watcher.line(), !line.hasPrefix("data:") {}
            _ = try await station.interrupt()
            _ = try await watcher.wait()
            #expect(!station.process.standardOutput.contains("token="))
            try await shop.close()
        }
    }

    private func cookie(_ jar: String) throws -> String {
        let fields = try readFile(jar).split(separator: "\n").last?.split(separator: "\t") ?? []
        return fields.suffix(2).joined(separator: "=")
    }

    @Test("an address that cannot be used is reported")
    func addresses() async throws {
        try await withTemporaryFolder { folder in
            let shop = try await shop(1, folder)
            // Other machines can reach this one, which is a warning.
            let open = try await RunningStation.start(
                shop, [folder.file("boards.csv"), "--listen", "0.0.0.0:0", "--json"])
            try await open.process.errorOutput(containing: "other machines of this network can reach the page")
            _ = try await open.interrupt()
            #expect(open.process.standardOutput.contains("open_station"))
            for (address, reason) in [("example.com:80", "usage"), ("192.0.2.1:8080", "cannot_listen")] {
                let refused = try await shop.maker.rainctl(
                    ["station", folder.file("boards.csv"), "--listen", address] + shop.common,
                    environment: shop.radio.environment)
                let document = try JSONValue(parsing: Array(refused.standardOutput.utf8))
                #expect(document["error"]?["reason"]?.string == reason, "\(document)")
            }
            try await shop.close()
        }
    }
}
