// SPDX-License-Identifier: Apache-2.0
import RainAccount
import RainCore
import RainJSON

/// The available identity providers: the built-in ones, and the definitions that a user added.
///
/// ```swift
/// var registry = ProviderRegistry.builtIn
/// try registry.add(parsing: bytes, origin: path)
/// let provider = try registry.provider("company", settings: settings, tools: tools)
/// ```
public struct ProviderRegistry: Sendable {
    /// One provider, before a user's settings turn it into a ``ConfiguredProvider``.
    public struct Entry: Sendable {
        /// The provider as data. A definition that extends another includes the other's members.
        public var definition: ProviderDefinition
        /// The extension of the definition; ``NoExtension`` for most.
        public var hooks: any ProviderExtension
        /// The definition's JSON, for definitions that extend it.
        var json: JSONValue
        /// Whether the program includes it; false for an added definition.
        public var isBuiltIn: Bool
    }

    /// The providers, in the order of lists.
    public private(set) var entries: [Entry] = []

    /// The providers that need no file.
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

    /// Returns the provider with that id.
    /// - Throws: `unknownProvider`, naming the existing ones.
    public func entry(_ id: String) throws(AccountError) -> Entry {
        if let entry = entries.first(where: { $0.definition.id == id }) { return entry }
        let names = entries.map(\.definition.id).joined(separator: ", ")
        throw AccountError(
            .unknownProvider,
            message: "there is no identity provider \"\(presentable(id))\"; the providers are \(names)")
    }

    /// Creates the provider with that id, with a user's settings. Sends nothing.
    /// - Throws: `unknownProvider`; `missingParameter`, `invalidConfiguration` and `insecureURL` for settings that cannot work.
    public func provider(
        _ id: String, settings: ProviderSettings = ProviderSettings(), tools: ProviderTools
    ) throws(AccountError) -> ConfiguredProvider {
        let entry = try entry(id)
        return try ConfiguredProvider(
            definition: entry.definition, settings: settings, tools: tools, extension: entry.hooks)
    }

    /// Adds a user's own definition. With `extends` it inherits everything from that provider, also the extension, except for members that
    /// it replaces.
    /// - Throws: `unreadableDefinition`, also for an id that exists already.
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
                    origin, JSONError("\"extends\"", is: extended, not: "a string").message)
            }
            guard let entry = entries.first(where: { $0.definition.id == id }) else {
                throw ProviderDefinition.unreadable(
                    origin, "extends names \"\(presentable(id))\", but there is no such provider")
            }
            inherited = entry.hooks
            parent = entry.json
            json = given.laid(over: entry.json)
        }
        let definition = try ProviderDefinition(json, origin: origin)
        // A null under a misspelt name would remove nothing, and the inherited member would remain.
        if let name = ProviderDefinition.unknownGrant(in: given) {
            throw ProviderDefinition.unreadable(origin, "the grant \"\(name)\" is not known")
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

    /// Returns this object's members over those of another object, also inside of them. A `null` removes a member.
    fileprivate func laid(over other: JSONValue) -> JSONValue {
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
