// SPDX-License-Identifier: Apache-2.0
import RainCore

/// What a claimed board knows itself by in its cloud: all that its factory partition has to hold.
///
/// Where a board cannot claim itself, whoever is at its cable claims in its place and writes this into its flash. Source of the names and
/// forms: `esp_rmaker_factory.c`, `esp_rmaker_client_data.c` and the official client's `claim.py`.
public struct NodeCredentials: Sendable {
    /// The id that the claim service has given it.
    public var node: NodeID
    /// PEM.
    public var certificate: String
    /// PEM.
    public var key: Secret
    /// The broker, without a port.
    public var mqttHost: String
    /// Where the board gets credentials for the cloud's other services; nil where the cloud has none.
    public var credentialsHost: String?
    /// 64 bytes, from which firmware derives its proof of possession.
    public var random: Secret

    public init(
        node: NodeID, certificate: String, key: Secret, mqttHost: String, credentialsHost: String?, random: Secret
    ) {
        self.node = node
        self.certificate = certificate
        self.key = key
        self.mqttHost = mqttHost
        self.credentialsHost = credentialsHost
        self.random = random
    }

    /// How many bytes firmware takes from ``random``.
    public static let randomBytes = 64

    /// The rows of which ESP-IDF's `nvs_partition_gen` makes the image of the partition. Every value becomes a blob, as
    /// `nvs_get_blob` wants it.
    public var partitionRows: Secret {
        var rows = ["key,type,encoding,value", "rmaker_creds,namespace,,"]
        func add(_ key: String, _ value: [UInt8]) {
            let digits = value.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
            rows.append("\(key),data,hex2bin,\(digits)")
        }
        add("node_id", Array(node.rawValue.utf8))
        add("mqtt_host", Array(mqttHost.utf8))
        if let credentialsHost { add("mqtt_cred_host", Array(credentialsHost.utf8)) }
        add("client_cert", Array(certificate.utf8))
        add("client_key", key.revealBytes())
        add("random", random.revealBytes())
        return Secret(rows.joined(separator: "\n") + "\n")
    }
}
