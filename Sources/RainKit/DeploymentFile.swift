// SPDX-License-Identifier: Apache-2.0
import IdentityProviders
import RainAccount
import RainMaker
import RainPrivateFiles
import RainCore

/// The deployments that a user has added, and the one in use, in one file. Espressif's own deployments are built in.
public struct DeploymentFile: Sendable {
    /// The content of the file.
    public struct Content: Sendable, Equatable {
        /// The name of the deployment in use if no other is requested.
        public var current: String?
        /// The user's own deployments, in the order in which they were added.
        public var added: [Deployment]

        public init(current: String? = nil, added: [Deployment] = []) {
            self.current = current
            self.added = added
        }

        /// Espressif's own deployments and the added ones. Added ones may not have the same names.
        public var all: [Deployment] { [.global, .china] + added }
        /// The name of the deployment to use if none is requested: `global` unless another was chosen.
        public var currentName: String { current ?? Deployment.global.name }

        /// Returns the deployment of that name. Throws `invalidConfiguration` for an unknown name.
        public func deployment(named name: String) throws(AccountError) -> Deployment {
            guard let found = all.first(where: { $0.name == name }) else {
                throw AccountError(
                    .invalidConfiguration,
                    message: "There is no deployment \"\(name)\".".because(
                        of: GivenText.remark(on: name, as: "The given name")),
                    remedies: [.knownDeployment])
            }
            return found
        }

        /// Adds a deployment. Throws `invalidConfiguration` for a name in use: sessions are kept under it, and belong to its address.
        public mutating func add(_ deployment: Deployment) throws(AccountError) {
            guard ![Deployment.global, .china].contains(where: { $0.name == deployment.name }) else {
                throw AccountError(
                    .invalidConfiguration, message: "\"\(deployment.name)\" is built in. Choose another name.")
            }
            if let existing = added.first(where: { $0.name == deployment.name }) {
                throw AccountError(
                    .invalidConfiguration,
                    message: """
                        A deployment "\(deployment.name)" already exists, at \(existing.base); it was not changed. Choose \
                        another name, or remove the existing deployment first.
                        """, remedies: [.removedDeployment])
            }
            added.append(deployment)
        }

        /// Returns a deployment that the user has added. Throws `invalidConfiguration` for any other name.
        public func ownDeployment(named name: String) throws(AccountError) -> Deployment {
            if let found = added.first(where: { $0.name == name }) { return found }
            let found = try deployment(named: name)
            throw AccountError(.invalidConfiguration, message: "\"\(found.name)\" is built in and cannot be changed.")
        }

        /// Replaces the added deployment of the same name. Throws `invalidConfiguration` if it does not exist. A session is bound to the base and
        /// claim addresses that it was made for.
        public mutating func replace(_ deployment: Deployment) throws(AccountError) {
            _ = try ownDeployment(named: deployment.name)
            for index in added.indices where added[index].name == deployment.name { added[index] = deployment }
        }

        /// Removes a deployment. Espressif's own cannot be removed. If the deployment was in use, `global` is used from now on.
        public mutating func remove(_ name: String) throws(AccountError) {
            guard added.contains(where: { $0.name == name }) else {
                let isBuiltIn = [Deployment.global, .china].contains { $0.name == name }
                throw AccountError(
                    .invalidConfiguration,
                    message: isBuiltIn
                        ? "\"\(name)\" is built in and cannot be removed."
                        : "There is no deployment \"\(name)\" to remove.")
            }
            added.removeAll { $0.name == name }
            if current == name { current = nil }
        }
    }

    private let document: PrivateDocument<Stored>
    /// The JSON file; it is created at the first change.
    public var path: String { document.path }

    public init(path: String) { document = PrivateDocument(path: path) }

    /// Returns the content. An absent file has no added deployments. Throws `invalidConfiguration` for a file that cannot be read.
    public func load() throws(AccountError) -> Content {
        try document.load(orThrow: unusable)?.content(at: path) ?? Content()
    }

    /// Changes the content while no other process can. If `body` throws, nothing is changed.
    public func change(_ body: (inout Content) throws(AccountError) -> Void) throws(AccountError) {
        try document.change(orThrow: failure) { stored throws(AccountError) in
            var content = try stored?.content(at: path) ?? Content()
            try body(&content)
            stored = Stored(content)
        }
    }

    private func failure(_ error: PrivateDocumentError) -> AccountError {
        switch error.code {
        case .unwritable: AccountError(.cannotStore, message: "\(error)")
        case .unreadable: unusable(error)
        }
    }

    private func unusable(_ error: PrivateDocumentError) -> AccountError {
        AccountError(
            .invalidConfiguration,
            message: error.sentence("the list of deployments", afterMoving: "add the deployments again"))
    }
}

/// The file's JSON.
private struct Stored: Codable {
    struct Entry: Codable {
        var name: String
        var base_url: String
        var claim_url: String?
        var auth_url: String?
        var client_id: String?
        var ca_file: String?
        var web_sign_in: Web?
        var neo: Neo?
    }

    struct Neo: Codable {
        var accounts_url: String
        var region: String
        var broker_url: String

        init?(_ services: NeoServices?) {
            guard let services else { return nil }
            (accounts_url, region, broker_url) = (services.accounts.text, services.region, services.broker.text)
        }

        func services() throws(AccountError) -> NeoServices {
            try NeoServices(accounts: accounts_url, region: region, broker: broker_url)
        }
    }

    struct Web: Codable {
        var authorize_path: String?
        var token_path: String?
        var scope: [String]?
        var relay_url: String?
        var relay_extended_state: Bool?
        var loopback_path: String?
        var scheme_redirect: String?

        /// Returns nil if everything has its default.
        init?(_ web: WebSignIn) {
            guard web != .standard else { return nil }
            authorize_path = web.authorizePath
            token_path = web.tokenPath
            scope = web.scope
            relay_url = web.relay
            relay_extended_state = web.relayTakesExtendedState
            loopback_path = web.loopbackPath
            scheme_redirect = web.schemeRedirect
        }

        func webSignIn() throws(AccountError) -> WebSignIn {
            let usual = WebSignIn.standard
            return try WebSignIn(
                authorizePath: authorize_path ?? usual.authorizePath, tokenPath: token_path ?? usual.tokenPath,
                scope: scope ?? usual.scope, relay: relay_url, relayTakesExtendedState: relay_extended_state ?? false,
                loopbackPath: loopback_path ?? usual.loopbackPath, schemeRedirect: scheme_redirect)
        }
    }

    var schemaVersion = 1
    var current: String?
    var deployments: [Entry]

    init(_ content: DeploymentFile.Content) {
        current = content.current
        deployments = content.added.map { added in
            Entry(
                name: added.name, base_url: added.base.text, claim_url: added.claim?.text,
                auth_url: added.authorization?.text, client_id: added.clientID, ca_file: added.certificateAuthorities,
                web_sign_in: Web(added.webSignIn), neo: Neo(added.neo))
        }
    }

    /// - Parameter path: the file, for errors about a deployment in it.
    func content(at path: String) throws(AccountError) -> DeploymentFile.Content {
        var content = DeploymentFile.Content(current: current)
        for entry in deployments {
            do throws(AccountError) {
                try content.add(
                    Deployment(
                        name: entry.name, base: entry.base_url, claim: entry.claim_url, authorization: entry.auth_url,
                        clientID: entry.client_id, certificateAuthorities: entry.ca_file,
                        webSignIn: entry.web_sign_in?.webSignIn() ?? .standard, neo: entry.neo?.services()))
            } catch {
                var error = error
                error.message =
                    "The deployment \"\(presentable(entry.name))\" in \(presentable(path)) cannot be used: \(error.message)"
                throw error
            }
        }
        return content
    }
}
