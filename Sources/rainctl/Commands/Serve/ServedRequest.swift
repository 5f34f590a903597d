// SPDX-License-Identifier: Apache-2.0
import Logging
import RainCore
import RainHTTPCurl
import RainKit
import Synchronization

/// A request to `rainctl serve`, as the command that answers it sees it: where its output goes, and what it was given besides arguments.
final class ServedRequest: Sendable {
    /// The secrets among the members of `params`, by their names.
    let secrets: [String: Secret]
    /// What all requests of the server share.
    private let server: ServedResources
    private let notify: @Sendable (Notice) -> Void
    private let document = Mutex<String?>(nil)

    /// Something that the client learns before the result.
    enum Notice: Sendable {
        /// A line of `--events ndjson`, or a part of a result.
        case event(String)
        /// A sentence for a person.
        case note(String)
        /// The page at which the user signs in.
        case page(SignInPage)
    }

    init(secrets: [String: Secret], server: ServedResources, notify: @escaping @Sendable (Notice) -> Void) {
        self.secrets = secrets
        self.server = server
        self.notify = notify
    }

    var environment: [String: String] { server.environment }
    var logger: Logger { server.logger }
    var connections: SharedConnections { server.connections }
    var accounts: SharedAccounts { server.accounts }

    /// The command's result: a document on one line, or nil if it had nothing to print.
    var result: String? { document.withLock { $0 } }

    func take(result: String) { document.withLock { $0 = result } }
    func take(event: String) { notify(.event(event.hasSuffix("\n") ? String(event.dropLast()) : event)) }
    func take(note: String) { notify(.note(note)) }
    func take(page: SignInPage) { notify(.page(page)) }

    /// The path that a command gets for a secret of the request: options like `--passphrase-file` take it. No file has such a path.
    static func path(ofMember name: String) -> String { "\0\(name)" }

    /// The member that such a path names; nil for the path of a file.
    static func member(ofPath path: String) -> String? {
        path.utf8.first == 0 ? String(path.dropFirst()) : nil
    }
}

/// What a server keeps between requests.
struct ServedResources: Sendable {
    let environment: [String: String]
    let logger: Logger
    let connections = SharedConnections()
    /// Sessions that stay alive between requests.
    let accounts = SharedAccounts()
}

/// HTTP clients that stay open, with their connections: one for each set of trusted authorities.
final class SharedConnections: Sendable {
    private struct Trust: Hashable {
        var file: String?
        var folder: String?
        /// The setting that names the file, which errors mention.
        var origin: String?
    }

    /// Requests name files of authorities, so their number has a limit.
    private static let maximum = 16
    private let clients = Mutex<[Trust: CurlHTTPClient]>([:])

    func client(_ configuration: CurlConfiguration) -> CurlHTTPClient {
        let trust = Trust(
            file: configuration.certificateAuthorities, folder: configuration.certificateAuthorityFolder,
            origin: configuration.certificateAuthoritiesOrigin)
        return clients.withLock { clients in
            if let known = clients[trust] { return known }
            let new = CurlHTTPClient(configuration)
            if clients.count < Self.maximum { clients[trust] = new }
            return new
        }
    }
}
