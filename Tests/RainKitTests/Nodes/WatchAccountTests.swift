// SPDX-License-Identifier: Apache-2.0
import RainAccount
import RainCore
import RainHTTP
import RainJSON
import RainKitTesting
import Testing

@testable import RainKit
@testable import RainMaker

@Suite("Watching all nodes of an account", .timeLimit(.minutes(20)))
struct WatchAccountTests {
    private static let list = "/v1/user/nodes?node_details=true"

    /// The cloud's list: nodes with their power; nil for a node that has reported nothing.
    private static func list(_ powers: [(id: String, power: Bool?)]) -> String {
        let details: [JSONValue] = powers.map { id, power in
            [
                "id": .string(id), "status": ["connectivity": ["connected": true, "timestamp": 1]],
                "config": ["devices": [["name": "Light", "params": [["name": "Power"]]]]],
                "params": power.map { ["Light": ["Power": .bool($0)]] } ?? [:],
            ]
        }
        let answer: JSONValue = ["nodes": .array(powers.map { .string($0.id) }), "node_details": .array(details)]
        return String(decoding: answer.serialized(), as: UTF8.self)
    }

    /// A client whose pauses end when the test moves the clock.
    private static func client() throws -> (client: SignedInClient, clock: ManualClock, kit: RainKitClient) {
        let client = try SignedInClient()
        let clock = ManualClock()
        var configuration = client.kit.configuration
        configuration.tools.timer = clock
        return (client, clock, RainKitClient(configuration))
    }

    /// Returns the descriptions of the next events up to `alive`.
    private static func round(
        _ events: inout AsyncThrowingStream<NodeEvent, any Error>.Iterator
    ) async throws -> [String] {
        var round: [String] = []
        while let event = try await events.next() {
            if case .alive = event { break }
            round.append("\(event)")
        }
        return round
    }

    @Test("reports each node at first, then changes, new nodes and removed ones")
    func changes() async throws {
        let (client, clock, kit) = try Self.client()
        client.http.expect(.get, Self.list, Self.list([("a", true), ("b", false)]))
        client.http.expect(.get, Self.list, Self.list([("a", true), ("b", true), ("c", nil)]))
        client.http.expect(.get, Self.list, Self.list([("b", true)]))
        var events = kit.watchAll(every: .seconds(5), live: false).makeAsyncIterator()
        #expect(try await Self.round(&events) == ["a: added", "b: added"])
        await clock.waitForSleepers(1)
        clock.advance(by: .seconds(5))
        #expect(try await Self.round(&events) == ["b: Light.Power=true", "c: added"])
        await clock.waitForSleepers(1)
        clock.advance(by: .seconds(5))
        #expect(try await Self.round(&events) == ["a: removed", "c: removed"])
        try client.http.finish()
    }

    @Test("an outage is reported once, then its end, then the changes that were missed")
    func outage() async throws {
        let (client, clock, kit) = try Self.client()
        client.http.expect(.get, Self.list, Self.list([("a", true)]))
        client.http.expect(.get, Self.list, failure: .unreachable)
        client.http.expect(
            .get, Self.list, status: 400, #"{"status":"failure","error_code":108001,"description":"no"}"#)
        client.http.expect(.get, Self.list, Self.list([("a", false)]))
        var events = kit.watchAll(every: .seconds(5), live: false).makeAsyncIterator()
        _ = try await Self.round(&events)
        await clock.waitForSleepers(1)
        clock.advance(by: .seconds(5))
        let first = try await Self.round(&events)
        #expect(first.count == 1 && first[0].hasPrefix("the list of boards could not be read from the cloud"))
        await clock.waitForSleepers(1)
        #expect(clock.nextDeadline?.offset == .seconds(15))
        clock.advance(by: .seconds(10))
        // A refusal does not end it either, because the cloud has accepted the same request before.
        #expect(try await Self.round(&events) == [])
        await clock.waitForSleepers(1)
        #expect(clock.nextDeadline?.offset == .seconds(35))
        clock.advance(by: .seconds(20))
        #expect(try await Self.round(&events) == ["the cloud answers again", "a: Light.Power=false"])
        try client.http.finish()
    }

    @Test("a long pause that the cloud asks for is kept, with signs of life for a watchdog")
    func retryAfter() async throws {
        let (client, clock, kit) = try Self.client()
        client.http.expect(.get, Self.list) { _ in
            HTTPResponse(status: 429, headers: [HTTPHeader("Retry-After", "70")], body: [])
        }
        client.http.expect(.get, Self.list, Self.list([("a", true)]))
        var events = kit.watchAll(every: .seconds(5), live: false).makeAsyncIterator()
        #expect(try await Self.round(&events).count == 1)
        for _ in 0..<2 {
            await clock.waitForSleepers(1)
            clock.advance(by: .seconds(30))
            #expect(try await Self.round(&events) == [])
            #expect(client.http.requests.count == 1)
        }
        await clock.waitForSleepers(1)
        clock.advance(by: .seconds(10))
        #expect(try await Self.round(&events) == ["the cloud answers again", "a: added"])
    }

    @Test("the end of the session ends it, and so does a refusal of the first list")
    func end() async throws {
        for hasWorked in [true, false] {
            let (client, clock, kit) = try Self.client()
            if hasWorked { client.http.expect(.get, Self.list, Self.list([])) }
            client.http.expect(
                .get, Self.list, status: hasWorked ? 401 : 400, #"{"status":"failure","description":"no"}"#)
            var events = kit.watchAll(every: .seconds(5), live: false).makeAsyncIterator()
            if hasWorked {
                #expect(try await Self.round(&events) == [])
                await clock.waitForSleepers(1)
                clock.advance(by: .seconds(5))
            }
            var failure: RainKitError?
            do { _ = try await Self.round(&events) } catch { failure = error as? RainKitError }
            #expect(failure?.needsSignIn == hasWorked, "\(String(describing: failure))")
        }
    }

    @Test("a refused live connection is reported, and the list goes on")
    func notLive() async throws {
        let (client, clock, kit) = try Self.client()
        client.http.expect(.get, Self.list, Self.list([("a", true)]))
        client.http.expect(unordered: .get, "/v1/mqtt_host") { _ in HTTPResponse(status: 404, headers: [], body: []) }
        client.http.expect(.get, Self.list, Self.list([("a", false)]))
        var events = kit.watchAll(every: .seconds(5)).makeAsyncIterator()
        _ = try await Self.round(&events)
        guard case .interrupted? = try await events.next() else {
            Issue.record("not reported")
            return
        }
        // The pauses before the next list, and before the next attempt to listen.
        await clock.waitForSleepers(2)
        clock.advance(by: .seconds(5))
        #expect(try await Self.round(&events) == ["a: Light.Power=false"])
    }

    @Test("leaving the loop ends the questions")
    func leaving() async throws {
        let (client, clock, kit) = try Self.client()
        client.http.expect(.get, Self.list, Self.list([("a", true)]))
        for try await _ in kit.watchAll(every: .seconds(5), live: false) { break }
        // The pause before the next question ends with the loop, or never begins.
        while clock.sleeperCount > 0 { await Task.yield() }
        clock.advance(by: .seconds(60))
        #expect(client.http.requests.count == 1)
    }

    @Test("a report after the question is newer than the list; one from before is not")
    func newer() throws {
        let node = { (power: Bool) in
            try #require(
                Node([
                    "id": "a", "config": ["devices": [["name": "Light", "params": [["name": "Power"]]]]],
                    "params": ["Light": ["Power": .bool(power)]],
                ]))
        }
        var nodes = AccountNodes()
        _ = nodes.take([try node(false)], askedAfter: 0)
        let report = NodeReport(node: NodeID("a"), values: ["Light": ["Power": true]])
        #expect(nodes.take(report).map { "\($0)" } == ["a: Light.Power=true"])
        #expect(nodes.take([try node(false)], askedAfter: 0).isEmpty)
        #expect(nodes.take([try node(false)], askedAfter: 1).map { "\($0)" } == ["a: Light.Power=false"])
        #expect(nodes.take(NodeReport(node: NodeID("other"), values: [:])).isEmpty)
    }

    @Test("events that nobody takes cost a bounded amount of memory, and the last value of each parameter stays")
    func bounded() async throws {
        let queue = NodeEventQueue()
        let change = { (parameter: Int, value: Int) in
            NodeEvent.changed(
                NodeChange(
                    node: NodeID("a"), name: nil,
                    kind: .value(
                        ParameterPath(component: "Light", parameter: "\(parameter)"), .integer(Int64(value)),
                        previous: nil)))
        }
        for value in 0..<2000 {
            queue.add((0..<10).map { change($0, value) })
            queue.add([.alive])
        }
        #expect(queue.count <= NodeEventQueue.crowd + 10)
        queue.finish(.cancelled)
        var last: [String: String] = [:]
        do {
            while let event = try await queue.next() {
                let parts = "\(event)".split(separator: "=").map(String.init)
                if parts.count == 2 { last[parts[0]] = parts[1] }
            }
        } catch {}
        #expect(last.count == 10 && last.values.allSatisfy { $0 == "1999" })
    }
}
