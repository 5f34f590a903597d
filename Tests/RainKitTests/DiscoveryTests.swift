// SPDX-License-Identifier: Apache-2.0
import ESPProvisioning
import RainKit
import Synchronization
import Testing

@Suite("Boards in reach, as one stream", .timeLimit(.minutes(10)))
struct DiscoveryTests {
    static let off = BoardError(.unavailable, message: "Bluetooth is switched off.", reason: "powered_off")

    static func client(_ transports: any BoardTransport...) -> RainKitClient {
        var configuration = RainKitConfiguration.inMemory()
        configuration.transports = transports
        return RainKitClient(configuration)
    }

    @Test("boards of every transport are reported, and the stream ends with the search")
    func all() async throws {
        let kit = Self.client(
            ScriptedBoards(scheme: "one", names: ["a", "b"]), ScriptedBoards(scheme: "two", names: ["c"]))
        var found: Set<String> = []
        for try await board in kit.boards() { found.insert("\(board.address)") }
        #expect(found == ["one:a", "one:b", "two:c"])
    }

    @Test("only the requested transports search")
    func chosen() async throws {
        let kit = Self.client(
            ScriptedBoards(scheme: "one", names: ["a"]), ScriptedBoards(scheme: "two", failure: Self.off))
        var found: [FoundBoard] = []
        for try await board in kit.boards(over: ["one"]) { found.append(board) }
        #expect(found.map(\.name) == ["a"])
    }

    @Test("a transport that cannot search is reported beside the boards of others")
    func oneIsOff() async throws {
        let kit = Self.client(
            ScriptedBoards(scheme: "one", names: ["a"]), ScriptedBoards(scheme: "two", failure: Self.off))
        let told = Mutex<[String]>([])
        for try await _ in kit.boards(unavailable: { error in told.withLock { $0.append(error.reason ?? "") } }) {}
        #expect(told.withLock { $0 } == ["powered_off"])
    }

    @Test("if no transport can search, the stream fails with the reason")
    func allAreOff() async throws {
        let kit = Self.client(ScriptedBoards(scheme: "one"), ScriptedBoards(scheme: "two", failure: Self.off))
        let error = await #expect(throws: RainKitError.self) { for try await _ in kit.boards() {} }
        #expect(error?.reason == "powered_off")
    }

    @Test("a transport that fails after its first board has not finished its search")
    func failsLater() async throws {
        let kit = Self.client(ScriptedBoards(scheme: "one", names: ["a"], failure: Self.off))
        var found: [String?] = []
        let error = await #expect(throws: RainKitError.self) {
            for try await board in kit.boards() { found.append(board.name) }
        }
        #expect(error?.reason == "powered_off" && found == ["a"])
    }

    @Test("a scheme that is not registered is refused")
    func unknownScheme() async throws {
        let kit = Self.client(ScriptedBoards(scheme: "one", names: ["a"]))
        let error = await #expect(throws: RainKitError.self) {
            for try await _ in kit.boards(over: ["bluetooth"]) {}
        }
        #expect(error?.board?.code == .invalidArgument)
    }

    @Test("leaving the loop ends a search that would continue")
    func left() async throws {
        let kit = Self.client(ScriptedBoards(scheme: "one", names: ["a"], keepsLooking: true))
        for try await board in kit.boards() {
            #expect(board.name == "a")
            break
        }
    }

    @Test("a search by name ends once the board is found")
    func byName() async throws {
        let kit = Self.client(ScriptedBoards(scheme: "one", names: ["a", "b"], keepsLooking: true))
        var found: [String?] = []
        for try await board in kit.boards(BoardSearch(name: "a")) { found.append(board.name) }
        #expect(found == ["a"])
    }

    @Test(
        "a search uses nearly all of its time",
        arguments: [(1000, 750), (4000, 3500), (8000, 7500), (120_000, 119_500)])
    func time(limit: Int, search: Int) {
        #expect(RainKitClient.timeToSearch(within: .milliseconds(limit)) == .milliseconds(search))
    }

    @Test("if no transport works, the search ends at once, with each reason reported once and its transport before it")
    func noWay() async throws {
        let other = BoardError(.unavailable, message: "The cable is cut.", reason: "no_port")
        let kit = Self.client(
            ScriptedBoards(scheme: "ble", failure: Self.off), ScriptedBoards(scheme: "softap", failure: Self.off),
            ScriptedBoards(scheme: "serial", failure: other))
        // Fails by the test's time limit if the search does not end by itself.
        let error = await #expect(throws: RainKitError.self) {
            _ = try await kit.findBoard(within: .seconds(1_000_000))
        }
        let message = error?.message ?? ""
        #expect(error?.reason == "not_found" && message.contains("On a cable: The cable is cut."), "\(message)")
        #expect(message.ranges(of: Self.off.message).count == 1, "\(message)")
        #expect(
            message.contains("Over Bluetooth: \(Self.off.message)")
                || message.contains("As a Wi-Fi network: \(Self.off.message)"), "\(message)")
    }

    @Test("the errors of transports are in the order of the transports, whichever fails first")
    func order() async throws {
        let other = BoardError(.unavailable, message: "The cable is cut.", reason: "no_port")
        let (gate, opener) = AsyncStream.makeStream(of: Void.self)
        let kit = Self.client(
            ScriptedBoards(scheme: "ble", failure: Self.off, failsAfter: gate),
            ScriptedBoards(scheme: "serial", failure: other))
        let error = await #expect(throws: RainKitError.self) {
            _ = try await kit.findBoard(unavailable: { scheme, _ in if scheme == "serial" { opener.finish() } })
        }
        #expect(
            error?.message.hasSuffix(" Over Bluetooth: \(Self.off.message) On a cable: \(other.message)") == true,
            "\(error?.message ?? "")")
    }

    @Test("a transport that does not work is reported while others are searched")
    func oneWayLess() async throws {
        let kit = Self.client(
            ScriptedBoards(scheme: "one", keepsLooking: true), ScriptedBoards(scheme: "two", failure: Self.off))
        let (told, continuation) = AsyncStream.makeStream(of: String.self)
        let search = Task {
            defer { continuation.finish() }
            _ = try await kit.findBoard(
                within: .seconds(1_000_000),
                unavailable: { scheme, error in
                    continuation.yield("\(scheme) \(error.reason ?? "")")
                })
        }
        var first: String?
        for await words in told {
            first = words
            break
        }
        #expect(first == "two powered_off")
        search.cancel()
        _ = await search.result
    }
}
