// SPDX-License-Identifier: Apache-2.0
import RainJSON
import TestSupport
import Testing

@Suite("rainctl batch with two Bluetooth adapters", .serialized)
struct BatchAdaptersTests {
    @Test(
        "sixty boards, a third of all connections aborted, few slots, and an adapter that fails in the middle",
        arguments: [("removed", "slots"), ("off", "slots-quiet"), ("broken", "slots")])
    func failing(kind: String, slots: String) async throws {
        try await run(60, slots: "\(slots)=7", failure: "hci1:\(kind)-after=10", atOnce: 50)
    }

    @Test(
        "a thousand boards on two adapters, one of which fails",
        .enabled(if: currentEnvironment()["RAINKIT_SOAK"] == "1"))
    func thousand() async throws {
        try await run(1000, slots: "slots=64", failure: "hci1:removed-after=400", atOnce: 200, missing: 1)
    }

    /// - Parameter missing: how many boards may fail.
    private func run(_ count: Int, slots: String, failure: String, atOnce: Int, missing: Int = 0) async throws {
        try await withTemporaryFolder { folder in
            let shop = try await Workshop.open(
                count, folder,
                radio: [
                    "--adapters", "2", "--ble-fault", "abort=0.35", "--ble-fault", slots, "--ble-fault",
                    failure,
                    "--ble-fault", "disconnect=0.2",
                ])
            try shop.write()
            let began = ContinuousClock.now
            let outcome = try await shop.run(
                ["run", folder.file("boards.csv"), "--at-once", "\(atOnce)", "--board-timeout", "300s"] + shop.common)
            let done = outcome.document["done"]?.integer ?? 0
            print("\(done) of \(count) boards in \(ContinuousClock.now - began)")
            #expect(done >= Int64(count - missing), "\(outcome.error) \(outcome.document)")
            let nodes = try shop.confirmed()
            #expect(nodes.count == Set(nodes).count && nodes.count >= count - missing)
            // Both adapters were used, refusals happened, and one adapter failed.
            let journal = shop.radio.journal
            #expect(try !journal.entries(where: ["event": "fault", "what": "slots"]).isEmpty)
            let kind = failure.split(separator: ":")[1].split(separator: "-")[0]
            #expect(try journal.entries(where: ["event": "fault", "what": .string("adapter \(kind)")]).count == 1)
            try await shop.close()
        }
    }

    @Test("an adapter whose connections all belong to another program is an error with a reason")
    func occupied() async throws {
        try await withTemporaryFolder { folder in
            let shop = try await Workshop.open(2, folder, radio: ["--ble-fault", "slots=1"])
            let (first, second) = (shop.radio.boards[0], shop.radio.boards[1])
            // Nobody else uses this bus: the device appears when somebody scans.
            let search = try await shop.maker.rainctl(
                ["device", "discover", "--transport", "ble", "--device-name", first.name, "--timeout", "120s"],
                environment: shop.radio.environment)
            #expect(search.status == 0)
            _ = try await shop.radio.busctl(first.path, "Device1", "Connect")
            // The wait for a link ends only half a second before the command's time. A busy machine may notice the latter first.
            let outcome = try await shop.maker.rainctl(
                ["device", "info", "--transport", "ble", "--device-name", second.name, "--timeout", "15s", "--json"],
                environment: shop.radio.environment
            ) { $0.standardOutput.contains("all_links_in_use") }
            #expect(
                outcome.status == 69 && outcome.standardOutput.contains("all_links_in_use"), "\(outcome.standardOutput)"
            )
            try await shop.close()
        }
    }

    @Test("--adapter chooses one or several adapters, and a search reports each board once")
    func chosen() async throws {
        try await withTemporaryFolder { folder in
            let shop = try await Workshop.open(6, folder, radio: ["--adapters", "3"])
            for names in [["hci1"], ["hci0", "hci2"], []] {
                let options = names.flatMap { ["--adapter", $0] }
                let found = try await shop.maker.rainctl(
                    ["device", "discover", "--transport", "ble", "--timeout", "2s", "--json"] + options,
                    environment: shop.radio.environment
                ) { ($0.document?["boards"]?.array ?? []).count >= 6 }
                let boards = try JSONValue(parsing: Array(found.standardOutput.utf8))["boards"]?.array ?? []
                #expect(boards.count == 6, "\(names): \(found.standardOutput) \(found.standardError)")
            }
            let none = try await shop.maker.rainctl(
                [
                    "device", "discover", "--transport", "ble", "--timeout", "2s", "--json", "--adapter", "hci7",
                    "--adapter", "hci8",
                ],
                environment: shop.radio.environment, within: .waitLimit)
            #expect(
                none.status == 69 && none.standardError.contains("hci7") || none.standardOutput.contains("no_adapter"))
            try await shop.close()
        }
    }
}
