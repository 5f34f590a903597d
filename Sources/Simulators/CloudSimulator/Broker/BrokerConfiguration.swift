// SPDX-License-Identifier: Apache-2.0
import Glibc

/// mosquitto's configuration: TLS with certificates on both sides, names from the certificates, and rights by name.
struct BrokerConfiguration: Sendable {
    var address: ListenAddress
    var authorityFile: String
    var certificateFile: String
    var keyFile: String
    var accessFile: String

    var text: String {
        // As root, mosquitto would become the user `mosquitto`, who cannot read our keys (0600, in a folder of 0700).
        let user = geteuid() == 0 ? "user root\n" : ""
        return """
            \(user)per_listener_settings false
            listener \(address.port) \(address.host)
            cafile \(authorityFile)
            certfile \(certificateFile)
            keyfile \(keyFile)
            require_certificate true
            use_identity_as_username true
            use_username_as_clientid true
            allow_anonymous false
            acl_file \(accessFile)
            persistence false
            sys_interval 0
            set_tcp_nodelay true
            log_dest stderr
            log_type error
            log_type warning
            log_type notice
            log_type information
            connection_messages true
            message_size_limit \(CloudAPI.maximumMessage)

            """
    }

    /// A node may publish and subscribe under its own id only, with a rule before it or without. `#` does not match
    /// topics that begin with `$`, so they are named.
    static let access = """
        user \(KeyRing.listenerName)
        topic readwrite #
        topic readwrite $aws/#

        pattern readwrite node/%u/#
        pattern readwrite $aws/rules/+/node/%u/#

        """
}

/// Events of the broker, read from mosquitto's log.
enum BrokerLogEvent: Equatable {
    case running
    case portTaken
    /// The broker ended without having been stopped. The log has no line for this.
    case died
    case connected(String)
    case disconnected(String)

    init?(_ line: String) {
        // "1668999999: New client connected from 127.0.0.1:40028 as node1 (p2, c1, k60, u'node1')."
        let words = line.split(separator: " ").map(String.init)
        if line.contains("mosquitto version"), line.hasSuffix(" running") {
            self = .running
        } else if line.contains("Address already in use") {
            self = .portTaken
        } else if line.contains("New client connected from "), let name = Self.word(after: "as", in: words) {
            self = .connected(name)
        } else if let name = Self.word(after: "Client", in: words) ?? Self.word(after: "client", in: words),
            // "already connected, closing old connection" is followed by the new connection, which counts.
            !line.contains("already connected"),
            ["disconnected", "closed its connection", "disconnecting"].contains(where: line.contains)
        {
            // "Client node1 disconnected.", "Client node1 closed its connection.", "Client node1 has exceeded timeout,
            // disconnecting.", "Socket error on client node1, disconnecting."
            self = .disconnected(name.hasSuffix(",") ? String(name.dropLast()) : name)
        } else {
            return nil
        }
    }

    private static func word(after word: String, in words: [String]) -> String? {
        words.firstIndex(of: word).flatMap { $0 + 1 < words.count ? words[$0 + 1] : nil }
    }
}
