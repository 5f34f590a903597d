// SPDX-License-Identifier: Apache-2.0
import RainAccount
import RainCore
import RainJSON

extension NodeMappingDescription {
    /// Descriptions are a few hundred bytes.
    public static let limits = JSONLimits(maximumBytes: 64 << 10, maximumDepth: 16, maximumValues: 2000)

    /// Reads a description.
    /// - Parameter origin: what to call it in errors: a path.
    /// - Throws: `unreadableDefinition`, naming the member that is wrong.
    public init(parsing text: [UInt8], origin: String) throws(AccountError) {
        let json: JSONValue
        do {
            json = try JSONValue(parsing: FileText.document(text), limits: Self.limits)
        } catch let error as FileText.Fault {
            throw Self.unreadable(origin, "\(error)")
        } catch {
            throw Self.unreadable(origin, "it is not JSON: \(error)")
        }
        let version: Int?
        do throws(JSONError) {
            version = try JSONMembers(json).integer("schemaVersion")
        } catch {
            throw Self.unreadable(origin, error.message)
        }
        guard let version else {
            throw Self.unreadable(origin, "it has no schemaVersion; the one that is read is \(Self.currentVersion)")
        }
        guard version == Self.currentVersion else {
            throw Self.unreadable(
                origin, "its schemaVersion is \(version) and this program reads \(Self.currentVersion)")
        }
        do throws(JSONError) {
            self = try JSONCoder.decode(NodeMappingDescription.self, from: json)
        } catch {
            throw Self.unreadable(origin, "\(error)")
        }
        // A misspelt member would be a request that lacks something.
        if let known = try? JSONCoder.value(of: self),
            let stray = json.firstMember(unknownTo: known) ?? json.firstNull(unknownTo: Self.self)
        {
            throw Self.unreadable(origin, "nothing is known about its member \(stray)")
        }
        do throws(MappingDescriptionProblem) {
            _ = try MappingCalls(self)
        } catch {
            throw Self.unreadable(origin, "\(error.member): \(error.sentence)")
        }
    }

    private static func unreadable(_ origin: String, _ what: String) -> AccountError {
        AccountError(
            .unreadableDefinition,
            message: "the backend's description \(presentable(origin)) cannot be used: \(presentable(what))")
    }
}

/// What is wrong with a description, and in which member.
struct MappingDescriptionProblem: Error, Equatable {
    var member: String
    var sentence: String
}
