// SPDX-License-Identifier: Apache-2.0
import RainKit

/// The settings that a command would use now, and the origin of each.
struct ProfileSettings {
    enum Origin: CustomStringConvertible {
        case option(String), variable(String), file(String), state(String), builtIn

        var description: String {
            switch self {
            case .option(let name): "option \(name)"
            case .variable(let name): "environment \(name)"
            case .file(let path), .state(let path): "file \(path)"
            case .builtIn: "built in"
            }
        }

        /// The variable or the file, for messages; nil for an option or a built-in value.
        var place: String? {
            switch self {
            case .variable(let name): name
            case .file(let path), .state(let path): path.onOneLine
            case .option, .builtIn: nil
            }
        }

        /// The option, the variable, or the key in its file, for messages about a wrong value.
        func settingName(_ key: String) -> String {
            switch self {
            case .option(let name), .variable(let name): name
            case .file(let path), .state(let path): "\(key) in \(path.onOneLine)"
            case .builtIn: "this program"
            }
        }
    }

    struct Value {
        var key: String
        var text: String
        var origin: Origin
    }

    private(set) var values: [Value] = []

    /// - Parameter name: a deployment; nil for the one in use.
    init(_ context: Context, named name: String?) throws(AccountError) {
        let path = context.deploymentFile.path
        let content = try context.deploymentFile.load()
        let chosen = name.map { (name: $0, origin: Origin.option("NAME")) } ?? Self.chosen(context, content)
        let deployment = try Self.deployment(chosen, in: content)
        let own: Origin = content.added.contains { $0.name == deployment.name } ? .file(path) : .builtIn
        add("profile", deployment.name, chosen.origin)
        add("base_url", deployment.base.text, own)
        add("claim_url", deployment.claim?.text, own)
        add("auth_url", deployment.authorization?.text, own)
        add("client_id", deployment.clientID, own)
        add("neo_accounts_url", deployment.neo?.accounts.text, own)
        add("neo_region", deployment.neo?.region, own)
        add("neo_broker_url", deployment.neo?.broker.text, own)
        let authorities = Self.authorities(context, at: deployment)
        if let authorities { add("ca_file", authorities.path, authorities.origin) }
        try addAccount(context, at: deployment.name)
    }

    /// Returns the current deployment and the origin of its name.
    static func chosen(_ context: Context, _ content: DeploymentFile.Content) -> (name: String, origin: Origin) {
        if let name = context.options.profile {
            (name, .option("--profile"))
        } else if let name = context.variable("RAINKIT_PROFILE") {
            (name, .variable("RAINKIT_PROFILE"))
        } else if let given = context.settings[.project, .profile] {
            (given.text, .file(given.path))
        } else if let name = content.current {
            (name, .file(context.deploymentFile.path))
        } else if let given = context.settings[.system, .profile] {
            (given.text, .file(given.path))
        } else {
            (content.currentName, .builtIn)
        }
    }

    /// Throws `invalidConfiguration` for an unknown name, with the place that has the name.
    static func deployment(
        _ chosen: (name: String, origin: Origin), in content: DeploymentFile.Content
    ) throws(AccountError) -> Deployment {
        do throws(AccountError) {
            return try content.deployment(named: chosen.name)
        } catch {
            guard error.remedies.contains(.knownDeployment), let place = chosen.origin.place else { throw error }
            var error = error
            error.message = "The deployment \"\(chosen.name)\" does not exist here, but \(place) names it."
            throw error
        }
    }

    /// Returns the file of certificates that is used, if any, and the origin of its name.
    static func authorities(_ context: Context, at deployment: Deployment?) -> (path: String, origin: Origin)? {
        if let path = context.options.caFile { return (path, .option("--ca-file")) }
        if let path = context.variable("RAINKIT_CA_FILE") { return (path, .variable("RAINKIT_CA_FILE")) }
        if let given = context.settings[.caFile] { return (given.text, .file(given.path)) }
        return deployment?.certificateAuthorities.map { ($0, .file(context.deploymentFile.path)) }
    }

    /// Returns the account that is named, and the origin of its name; nil for the current one.
    static func namedAccount(_ context: Context) -> (name: String, origin: Origin)? {
        if let name = context.options.account {
            (name, .option("--account"))
        } else if let name = context.variable("RAINKIT_ACCOUNT") {
            (name, .variable("RAINKIT_ACCOUNT"))
        } else if let given = context.settings[.account] {
            (given.text, .file(given.path))
        } else {
            nil
        }
    }

    private mutating func addAccount(_ context: Context, at deployment: String) throws(AccountError) {
        let known = context.accounts.known
        let list = try known.load()
        let entry: KnownAccounts.Entry?
        if let named = Self.namedAccount(context) {
            add("account", named.name, named.origin)
            entry = list.entry(named.name, at: deployment)
        } else {
            entry = list.current(at: deployment)
            add("account", entry?.name, .state(known.path))
        }
        add("store", entry?.store.rawValue, .state(known.path))
    }

    private mutating func add(_ key: String, _ text: String?, _ origin: Origin) {
        if let text { values.append(Value(key: key, text: text, origin: origin)) }
    }
}
