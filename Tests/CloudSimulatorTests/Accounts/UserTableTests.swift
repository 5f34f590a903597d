// SPDX-License-Identifier: Apache-2.0
import RainJSON
import Testing

@testable import CloudSimulator

@Suite("The simulator's accounts")
struct UserTableTests {
    private func user(_ name: String, isConfirmed: Bool = true) -> User {
        var user = User(id: "id-\(name)", userName: name, password: nil)
        user.isConfirmed = isConfirmed
        return user
    }

    @Test("found by name, also after it changed, and not after they are gone")
    func names() {
        var table = UserTable()
        #expect(table.add(user("ada")) == .added(replacing: nil))
        table["id-ada"]?.userName = "ada@example.com"
        #expect(table.named("ada") == nil)
        #expect(table.named("ada@example.com")?.id == "id-ada")
        table["id-ada"] = nil
        #expect(table.named("ada@example.com") == nil && table.count == 0)
        table["id-nobody"] = user("nobody")
        #expect(table.count == 0, "setting adds nobody")
    }

    @Test("whoever never came back with a code makes room for the next")
    func unproven() {
        var table = UserTable()
        _ = table.add(user("proven"))
        for index in 0..<UserTable.maximumUnproven { _ = table.add(user("\(index)", isConfirmed: false)) }
        table["id-0"]?.isConfirmed = true
        #expect(table.add(user("a", isConfirmed: false)) == .added(replacing: nil), "one has been confirmed meanwhile")
        #expect(table.add(user("b", isConfirmed: false)) == .added(replacing: "id-1"))
        #expect(table.named("1") == nil)
        #expect(table.named("0") != nil && table.named("proven") != nil)
        #expect(table.count == UserTable.maximumUnproven + 2)
    }

    @Test("beyond the limit nobody is added, and those who are there can still change")
    func full() {
        var table = UserTable()
        for index in 0..<UserTable.maximum { _ = table.add(user("\(index)")) }
        #expect(table.add(user("late")) == .full)
        #expect(table.add(user("1")) == .added(replacing: nil))
        #expect(table.count == UserTable.maximum)
    }

    @Test("the names and the order come back from the stored form")
    func stored() throws {
        var table = UserTable()
        _ = table.add(user("ada"))
        for index in 0..<UserTable.maximumUnproven { _ = table.add(user("\(index)", isConfirmed: false)) }
        var again = try JSONCoder.decode(UserTable.self, from: try JSONCoder.encode(table))
        #expect(again == table)
        #expect(again.add(user("more", isConfirmed: false)) == .added(replacing: "id-0"))
    }
}
