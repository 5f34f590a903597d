// SPDX-License-Identifier: Apache-2.0
import IdentityProviders
import RainAccount
import RainHTTP
import RainMaker

/// One account as a client uses it: its session, and what can be done with it, whichever identity system it belongs to.
public struct AccountAccess: Sendable {
    /// Under which name its session is kept: a deployment's, or a provider's.
    public let name: String
    /// Where the service's paths begin; empty where it has no one such place.
    public let base: String
    /// The PEM file of authorities that its servers are checked against; nil for the system's.
    public let certificateAuthorities: String?
    /// Signs in and out, renews tokens, and sends requests in the user's name.
    public let session: AccountSession
    /// Where the session is kept.
    public let place: SessionPlace
    /// The place for the session of someone who signs in by ``RainKitClient/newAccount(user:in:savingCredentials:)``.
    public let newSession: NewAccountStore?
    /// What can be done with an account of RainMaker's; nil for any other.
    public let rainMaker: RainMakerAccount?
    /// The nodes of a RainMaker account; nil for any other.
    public let nodes: RainMakerCloud?
    /// The identity provider, where it is not RainMaker's own.
    public let provider: ConfiguredProvider?
    let deployment: Deployment?
    let http: any HTTPClient

    init(
        _ deployment: Deployment, session: AccountSession, http: any HTTPClient, store: any CredentialStore,
        place: SessionPlace
    ) {
        name = deployment.name
        base = deployment.base.text
        certificateAuthorities = deployment.certificateAuthorities
        self.session = session
        self.place = place
        newSession = store as? NewAccountStore
        rainMaker = RainMakerAccount(deployment, session: session, http: http)
        nodes = RainMakerCloud(deployment, session: session, http: http)
        provider = nil
        self.deployment = deployment
        self.http = http
    }

    init(
        _ provider: ConfiguredProvider, named name: String, session: AccountSession, http: any HTTPClient,
        certificateAuthorities: String?, store: any CredentialStore, place: SessionPlace
    ) {
        self.name = name
        base = provider.resources.first?.text ?? ""
        self.certificateAuthorities = certificateAuthorities
        self.session = session
        self.place = place
        newSession = store as? NewAccountStore
        rainMaker = nil
        nodes = nil
        self.provider = provider
        deployment = nil
        self.http = http
    }
}

extension AccountAccess {
    /// What only an account of RainMaker's can do.
    /// - Throws: `unsupported` for any other.
    public func rainMakerAccount() throws(AccountError) -> RainMakerAccount {
        if let rainMaker { return rainMaker }
        throw AccountError(.unsupported, message: "\(provider?.title ?? name) cannot do this; RainMaker can")
    }
}

/// Where a session is kept: in what kind of store, under which account's name, and the path if it has one.
public struct SessionPlace: Sendable, Equatable {
    /// Which kind of store it is.
    public var kind: StoreKind
    /// The account's name in the store; nil where that is known only after the sign-in.
    public var account: String?
    /// The session's file; nil for a store that is no file.
    public var path: String?

    public init(kind: StoreKind, account: String? = nil, path: String? = nil) {
        self.kind = kind
        self.account = account
        self.path = path
    }

    init(_ kept: AccountDirectory.KeptAccount) {
        self.init(
            kind: kept.kind, account: kept.key.account, path: (kept.store as? FileCredentialStore)?.path(of: kept.key))
    }
}
