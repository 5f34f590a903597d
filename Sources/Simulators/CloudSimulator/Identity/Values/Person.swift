// SPDX-License-Identifier: Apache-2.0
import RainCrypto

/// A person with an account.
struct Person: Sendable, Equatable {
    /// The person's number in SPiD and Liferay.
    var id: Int64
    var email: String
    var screenName: String
    var givenName: String
    var familyName: String
    /// Nil for people who do not sign in by password.
    var password: String?
    var isVerified = true

    func accepts(password given: String?) -> Bool {
        guard let given, let password else { return false }
        return equalInConstantTime(Array(given.utf8), Array(password.utf8))
    }

    var fullName: String { "\(givenName) \(familyName)" }
}

/// The people of one system, at most ``maximum``. A value.
struct People: Sendable {
    private static let maximum = 1000

    /// The people of every simulated system. Tests and documents name them.
    static let known = People([
        Person(
            id: 1001, email: "ada@example.com", screenName: "ada", givenName: "Ada", familyName: "Example",
            password: "correct-horse"),
        // Has not yet followed her confirmation link.
        Person(
            id: 1002, email: "eve@example.com", screenName: "eve", givenName: "Eve", familyName: "Example",
            password: "correct-horse", isVerified: false),
        Person(
            id: 1003, email: "bob@example.com", screenName: "bob", givenName: "Bob", familyName: "Example",
            password: "battery-staple"),
    ])

    private var people: [Int64: Person] = [:]

    private init(_ people: [Person]) { for person in people { self.people[person.id] = person } }

    subscript(id: Int64) -> Person? {
        get { people[id] }
        set { people[id] = newValue }
    }

    func with(email: String) -> Person? {
        let email = email.lowercased()
        return people.values.first { $0.email == email }
    }

    func with(screenName: String) -> Person? { people.values.first { $0.screenName == screenName } }

    /// Returns the person with that e-mail address, screen name or number.
    func named(_ name: String) -> Person? {
        with(email: name) ?? with(screenName: name) ?? Int64(name).flatMap { people[$0] }
    }

    /// Returns nil if there are too many people, or one with that address.
    mutating func add(email: String, password: String? = nil, isVerified: Bool) -> Person? {
        guard people.count < Self.maximum, with(email: email) == nil else { return nil }
        let id = (people.keys.max() ?? 1000) + 1
        let person = Person(
            id: id, email: email.lowercased(), screenName: "user\(id)", givenName: "New", familyName: "User",
            password: password,
            isVerified: isVerified)
        people[id] = person
        return person
    }
}
