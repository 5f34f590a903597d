// SPDX-License-Identifier: Apache-2.0
import RainAccount
import RainCore
import RainJSON

/// The identity providers that there are: those built in, and the definitions that a user added.
///
/// ```swift
/// var registry = ProviderRegistry.builtIn
/// try registry.add(parsing: bytes, origin: path)
/// let provider = try registry.provider("company", settings: settings, tools: tools)
/// ```
public struct ProviderRegistry: Sendable {
    /// One provider, before a person's settings make a ``ConfiguredProvider`` of it.
    public struct Entry: Sendable {
        /// The provider as data. One that extends another has the other's members too.
        public var definition: ProviderDefinition
        /// What the provider does beside its definition; ``NoExtension`` for most.
        public var hooks: any ProviderExtension
        /// The definition's JSON, for one that extends it.
        var json: JSONValue
        /// Whether the program brings it along; false for a definition that was added.
        public var isBuiltIn: Bool
    }

    /// In the order in which they are listed.
    public private(set) var entries: [Entry] = []

    /// Those that need no file.
    public static let builtIn = ProviderRegistry([
        (SPiDDefinition.text, SPiDExtension()),
        (LiferayDefinition.text, LiferayExtension()),
        (OCLCDefinition.text, OCLCExtension()), (OCLCDefinition.current, OCLCExtension()),
        (OIDCDefinition.text, NoExtension()),
        (NeoDefinition.text, NeoExtension()),
        (CognitoDefinition.text, CognitoExtension()),
    ])

    private init(_ builtIn: [(text: String, hooks: any ProviderExtension)]) {
        for (text, hooks) in builtIn {
            do throws(AccountError) {
                try add(parsing: Array(text.utf8), origin: "built in", hooks: hooks)
            } catch {
                preconditionFailure("a built-in provider is not valid: \(error)")
            }
        }
    }

    /// - Throws: `unknownProvider`, naming those that there are.
    public func entry(_ id: String) throws(AccountError) -> Entry {
        if let entry = entries.first(where: { $0.definition.id == id }) { return entry }
        let names = entries.map(\.definition.id).joined(separator: ", ")
        throw AccountError(
            .unknownProvider, message: "there is no identity provider \"\(presentable(id))\"; there are \(names)")
    }

    /// Makes the provider of that id with a person's settings. Nothing is sent.
    /// - Throws: `unknownProvider`; `missingParameter`, `invalidConfiguration` and `insecureURL` for settings that it cannot work with.
    public func provider(
        _ id: String, settings: ProviderSettings = ProviderSettings(), tools: ProviderTools
    ) throws(AccountError) -> ConfiguredProvider {
        let entry = try entry(id)
        return try ConfiguredProvider(
            definition: entry.definition, settings: settings, tools: tools, extension: entry.hooks)
    }

    /// Adds a user's own definition. With `extends` it has everything of that provider, its extension too, but for what it says
    /// otherwise.
    /// - Throws: `unreadableDefinition`, also for a name that is taken.
    public mutating func add(parsing text: [UInt8], origin: String) throws(AccountError) {
        try add(parsing: text, origin: origin, hooks: nil)
    }

    private mutating func add(
        parsing text: [UInt8], origin: String, hooks: (any ProviderExtension)?
    ) throws(AccountError) {
        var json: JSONValue
        do {
            json = try JSONValue(parsing: FileText.document(text), limits: ProviderDefinition.limits)
        } catch let error as FileText.Fault {
            throw ProviderDefinition.unreadable(origin, "\(error)")
        } catch {
            throw ProviderDefinition.unreadable(origin, "it is not JSON: \(error)")
        }
        let given = json.without("extends")
        var parent: JSONValue?
        var inherited: any ProviderExtension = NoExtension()
        if let extended = json["extends"]?.unlessNull {
            guard let id = extended.string else {
                throw ProviderDefinition.unreadable(
                    origin, JSONError("\"extends\"", is: extended, not: "a text").message)
            }
            guard let entry = entries.first(where: { $0.definition.id == id }) else {
                throw ProviderDefinition.unreadable(origin, "extends names no provider that there is")
            }
            inherited = entry.hooks
            parent = entry.json
            json = given.laid(over: entry.json)
        }
        let definition = try ProviderDefinition(json, origin: origin)
        // A null under a misspelt name would take nothing away, and what was to go would stay.
        if let name = ProviderDefinition.unknownGrant(in: given) {
            throw ProviderDefinition.unreadable(origin, "there is no grant \(name)")
        }
        if let parent, let stray = given.firstNull(unknownTo: ProviderDefinition.self, in: { $0.laid(over: parent) }) {
            throw ProviderDefinition.unreadable(origin, "it has an unknown member, \(stray)")
        }
        guard !entries.contains(where: { $0.definition.id == definition.id }) else {
            throw ProviderDefinition.unreadable(
                origin, "there is a provider \(definition.id) already: choose another id")
        }
        entries.append(Entry(definition: definition, hooks: hooks ?? inherited, json: json, isBuiltIn: hooks != nil))
    }
}

extension JSONValue {
    func without(_ name: String) -> JSONValue {
        guard let members else { return self }
        return .object(members.filter { $0.name != name })
    }

    /// This object's members in the place of another's, and so on inside of them; a `null` takes a member away.
    func laid(over other: JSONValue) -> JSONValue {
        guard let members, let under = other.members else { return self }
        var result: [Member] = []
        for member in under {
            guard let own = self[member.name] else {
                result.append(member)
                continue
            }
            if !own.isNull { result.append(Member(member.name, own.laid(over: member.value))) }
        }
        result += members.filter { member in !member.value.isNull && !under.contains { $0.name == member.name } }
        return .object(result)
    }
}
