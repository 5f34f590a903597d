// SPDX-License-Identifier: Apache-2.0
import RainJSON
import RainMaker
import TestSupport
import Testing

@testable import RainKit

/// Grouping, comparing and choosing, without a cloud.
@Suite("Schedules and scenes of several nodes: groups")
struct EntryGroupTests {
    static func entry(
        _ id: String, _ name: String = "Night", minutes: Int64 = 1110, enabled: Bool = true,
        with more: [(String, JSONValue)] = []
    ) -> JSONValue {
        .object(
            [
                .init("id", .string(id)), .init("name", .string(name)), .init("enabled", .bool(enabled)),
                .init("triggers", [["m": .integer(minutes), "d": 31]]), .init("action", ["Light": ["Power": false]]),
            ].filter { member in !more.contains { $0.0 == member.name } } + more.map { JSONValue.Member($0.0, $0.1) })
    }

    private static func groups(_ entries: [[JSONValue]]) throws -> [EntryGroup] {
        EntryGroup.groups(
            of: .schedules,
            at: try entries.enumerated().map {
                try SignedInClient.light("n\($0.offset + 1)", schedules: .array($0.element))
            })
    }

    private static func group(_ entries: JSONValue...) throws -> EntryGroup {
        let groups = try groups(entries.map { [$0] })
        return try #require(groups.first)
    }

    @Test("entries with one id are one group, in the order in which they appear")
    func grouped() throws {
        let groups = try Self.groups([
            [Self.entry("A1"), Self.entry("B2", "Day")], [Self.entry("C3", "Tea"), Self.entry("A1")], [],
        ])
        #expect(groups.map(\.id) == ["A1", "B2", "C3"] && groups.map(\.name) == ["Night", "Day", "Tea"])
        #expect(groups.map { $0.copies.map(\.node.rawValue) } == [["n1", "n2"], ["n1"], ["n2"]])
        #expect(groups.allSatisfy { $0.isInSync })
    }

    @Test(
        "a node that is listed twice, or that lists an id twice, has one copy; nodes with one name have their ids beside it"
    )
    func twice() throws {
        let one = try SignedInClient.light(
            "n1", schedules: [Self.entry("A1"), Self.entry("A1", "Other")], name: "Lamp")
        let two = try SignedInClient.light("n2", schedules: [Self.entry("A1")], name: "lamp")
        let groups = EntryGroup.groups(of: .schedules, at: [one, one, two])
        #expect(groups.map { $0.copies.map(\.nodeName) } == [["Lamp (n1)", "lamp (n2)"]])
        #expect(EntryGroup.groups(of: .scenes, at: [one, two]).isEmpty, "nodes without scenes are left out")
    }

    @Test(
        "copies that a node reports in another form are equal",
        arguments: [
            entry("A1", with: [("triggers", [["d": 31, "m": 1110]])]),
            entry("A1", with: [("triggers", [["m": 1110, "d": 31, "ts": 5]])]),
            entry("A1", with: [("info", "")]), entry("A1", with: [("flags", 0)]),
            entry("A1", with: [("validity", ["start": 0, "end": 0])]),
            entry("A1", with: [("action", ["Fan": ["Speed": 3]])]),
        ])
    func equal(other: JSONValue) throws {
        #expect(try Self.group(Self.entry("A1"), other).differences == [])
    }

    @Test("dates without a year are equal whether the year is absent or 0, and delays whenever they end")
    func equalTriggers() throws {
        let date = Self.entry("A1", with: [("triggers", [["m": 1, "dd": 24, "mm": 2048, "r": true]])])
        let zero = Self.entry("A1", with: [("triggers", [["m": 1, "dd": 24, "mm": 2048, "yy": 0, "r": true]])])
        #expect(try Self.group(date, zero).isInSync)
        let delay = Self.entry("A1", with: [("triggers", [["rsec": 60, "ts": 100]])])
        let later = Self.entry("A1", with: [("triggers", [["rsec": 60, "ts": 900]])])
        #expect(try Self.group(delay, later).isInSync)
        let sunset = Self.entry("A1", with: [("triggers", [["ss": 30, "lat": 52.5, "lon": 13.4, "ts": 1]])])
        let sunrise = Self.entry("A1", with: [("triggers", [["sr": 30, "lat": 52.5, "lon": 13.4]])])
        #expect(try Self.group(sunset, sunset).isInSync)
        #expect(try Self.group(sunset, sunrise).differences == [.triggers])
    }

    @Test(
        "each member in which copies differ is named",
        arguments: [
            (entry("A1", "Late"), [EntryGroup.Member.name], "n2's copy is called Late"),
            (entry("A1", minutes: 1200), [.triggers], "n2's copy acts at 20:00 mon-fri"),
            (entry("A1", enabled: false), [.enabled], "n2's copy is disabled"),
            (entry("A1", with: [("info", "x")]), [.info], "n2's copy has a different remark"),
            (entry("A1", with: [("flags", 1)]), [.flags], "n2's copy has different flags"),
            (
                entry("A1", with: [("validity", ["start": 1, "end": 2])]), [.validity],
                "n2's copy has a different validity period"
            ),
            (
                entry("A1", "Late", enabled: false), [.name, .enabled], "n2's copy is called Late and is disabled"
            ),
            (
                entry("A1", with: [("triggers", [["m": 1110, "d": 31, "x": 1]])]), [.triggers],
                "n2's copy acts at 18:30 mon-fri"
            ),
        ])
    func different(other: JSONValue, members: [EntryGroup.Member], text: String) throws {
        let group = try Self.group(Self.entry("A1"), other)
        #expect(group.differences == members && !group.isInSync)
        #expect(group.differenceText() == text)
    }

    @Test("the model is the copy that most nodes have, or the one that is named")
    func model() throws {
        let group = try Self.group(
            Self.entry("A1", minutes: 1), Self.entry("A1", minutes: 2), Self.entry("A1", minutes: 2),
            Self.entry("A1", "Late", minutes: 2))
        #expect(try group.model().node.rawValue == "n2")
        #expect(try group.model(like: NodeID("n4")).entry.name == "Late")
        #expect(group.name == "Night")
        let absent = failure { try group.model(like: NodeID("n9")) }
        #expect(absent?.reason == "no_such_entry")
        #expect(try Self.group(Self.entry("A1")).model().node.rawValue == "n1")
    }

    @Test("if no copy is the most common, nothing is guessed")
    func tie() throws {
        let group = try Self.group(Self.entry("A1", minutes: 1), Self.entry("A1", minutes: 2))
        let error = failure { try group.model() }
        #expect(error?.reason == "out_of_sync" && error?.code == .usage && error?.remedies == [.modelNode])
        #expect(error?.message.contains("n2's copy acts at 00:02 mon-fri") == true)
        let two = try Self.group(
            Self.entry("A1", minutes: 1), Self.entry("A1", minutes: 2), Self.entry("A1", minutes: 2),
            Self.entry("A1", minutes: 1), Self.entry("A1", minutes: 3))
        #expect(failure { try two.model() }?.reason == "out_of_sync")
    }

    @Test("an entry with neither name nor time in common is another one, unless its node is named")
    func other() throws {
        let group = try Self.group(Self.entry("A1"), Self.entry("A1"), Self.entry("A1", "Film", minutes: 5))
        let error = failure { try group.model() }
        #expect(error?.reason == "id_taken" && error?.code == .badData)
        #expect(
            error?.message.hasPrefix("Two different schedules have the id A1: Film, at 00:05 mon-fri on n3, and ")
                == true)
        #expect(try group.model(like: NodeID("n1")).entry.name == "Night")
        // Scenes have no time: the parameters that they set count.
        func scene(_ name: String, _ device: String) -> JSONValue {
            ["id": "S1", "name": .string(name), "action": .object([.init(device, ["Power": true])])]
        }
        func scenes(_ entries: JSONValue...) throws -> EntryGroup {
            let nodes = try entries.enumerated().map { try SignedInClient.light("n\($0.offset)", scenes: [$0.element]) }
            return try #require(EntryGroup.groups(of: .scenes, at: nodes).first)
        }
        let renamed = try scenes(scene("Film", "Light"), scene("Film", "Light"), scene("Late", "Light"))
        #expect(try renamed.model().entry.name == "Film" && renamed.differences == [.name])
        #expect(failure { try scenes(scene("Film", "Light"), scene("Late", "Fan")).model() }?.reason == "id_taken")
    }

    @Test("what the apps write to several nodes is one entry here, and what differs is two in the older apps")
    func apps() throws {
        for app in PhoneApp.allCases {
            let entries = [false, true, false].map { power -> JSONValue in
                let sent = app.newSchedule("Night", minutes: 1110, days: 31, action: ["Light": ["Power": .bool(power)]])
                // As firmware reports it: without the operation, and with the state.
                let members = (sent.members ?? []).filter { !["operation", "flags"].contains($0.name) }
                return .object(members.filter { $0.value != "" } + [.init("enabled", true)])
            }
            let groups = try Self.groups(entries.map { [$0] })
            #expect(groups.count == 1 && groups[0].isInSync && groups[0].copies.count == 3 && groups[0].id == app.newID)
        }
        let differing = [Self.entry("A1"), Self.entry("A1", minutes: 1200)]
        #expect(PhoneApp.allCases.map { app in Set(differing.map { app.key($0) }).count } == [2, 2, 1])
    }

    private func failure<Value>(_ body: () throws -> Value) -> RainKitError? {
        do {
            _ = try body()
            return nil
        } catch {
            return error as? RainKitError
        }
    }
}
