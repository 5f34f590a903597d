// SPDX-License-Identifier: Apache-2.0
import RainJSON
import Testing

@Suite("Members whose values decide something")
struct JSONMembersTests {
    private static let values: [JSONValue] = [
        nil, true, 7, 7.5, "seven", ["seven"], ["a": 1],
    ]

    private func fault(_ value: JSONValue, _ read: (JSONMembers) throws -> Void) -> String? {
        do {
            let outer = try JSONMembers(["outer": ["x": value]], takesNull: false)
            guard let members = try outer.object("outer") else { return "no outer object" }
            try read(members)
            return nil
        } catch {
            #expect((error as? JSONError)?.code == .typeMismatch)
            return (error as? JSONError)?.message
        }
    }

    @Test("each type is read, and all other types are errors that name the member", arguments: values)
    func types(value: JSONValue) {
        func check(_ message: String?, _ wanted: String, isRight: Bool) {
            #expect(message == (isRight ? nil : "\"outer.x\" must be \(wanted), but it is \(value.kind)"))
        }
        check(fault(value) { _ = try $0.text("x") }, "a string", isRight: value.string != nil)
        check(fault(value) { _ = try $0.flag("x") }, "true or false", isRight: value.bool != nil)
        check(fault(value) { _ = try $0.integer("x") }, "a whole number", isRight: value == 7)
        check(fault(value) { _ = try $0.number("x") }, "a number", isRight: value.double != nil)
        check(fault(value) { _ = try $0.texts("x") }, "a list", isRight: value.array != nil)
        check(fault(value) { _ = try $0.object("x") }, "an object", isRight: value.members != nil)
    }

    @Test("an element of another type is named by its place")
    func elements() {
        #expect(fault(["a", 5]) { _ = try $0.texts("x") } == "\"outer.x[1]\" must be a string, but it is a number")
    }

    @Test("a member that is not there is nil, and so is null if the reader takes it")
    func absent() throws {
        let members = try JSONMembers(["x": nil])
        #expect(try members.text("x") == nil && members.text("y") == nil && members.object("x") == nil)
        #expect(try members.texts("x") == nil && members.integer("x") == nil && members.flag("y") == nil)
    }

    @Test(
        "a lenient number may be digits in a text",
        arguments: [
            ("7", 7), (7.5, 7.5), ("7.5", 7.5), ("", nil), ("-1", -1),
        ] as [(JSONValue, Double?)])
    func lenient(value: JSONValue, number: Double?) throws {
        #expect(try JSONMembers(["x": value]).lenientNumber("x") == number)
    }

    @Test("a lenient number is not any text", arguments: ["soon", "nan", "inf", true, ["7"]] as [JSONValue])
    func notLenient(value: JSONValue) {
        #expect(throws: JSONError.self) { try JSONMembers(["x": value]).lenientNumber("x") }
    }

    @Test("a whole number may be written with a fraction of zero")
    func whole() throws {
        #expect(try JSONMembers(["x": 2.0]).integer("x") == 2)
        #expect(throws: JSONError.self) { try JSONMembers(["x": 1e300]).integer("x") }
    }

    @Test("what is not an object has no members", arguments: [[], "x", nil, 5] as [JSONValue])
    func notAnObject(value: JSONValue) {
        #expect(throws: JSONError.self) { try JSONMembers(value) }
    }
}
