// SPDX-License-Identifier: Apache-2.0
import RainCore

/// The identity of a claimed board in its cloud: the content of its factory partition.
///
/// If a board cannot claim itself, the machine at its cable claims for it and writes these credentials into its flash. The names and
/// formats come from `esp_rmaker_factory.c`, `esp_rmaker_client_data.c` and the official client's `claim.py`.
public struct NodeCredentials: Sendable {
    /// The id that the claim service has assigned.
    public var node: NodeID
    /// The certificate in PEM.
    public var certificate: String
    /// The private key in PEM.
    public var key: Secret
    /// The MQTT broker, without a port.
    public var mqttHost: String
    /// The host that gives the board credentials for the cloud's other services; nil if there is none.
    public var credentialsHost: String?
    /// 64 random bytes, from which firmware derives its proof of possession.
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

    /// The number of bytes that firmware reads from ``random``.
    public static let randomBytes = 64

    /// The rows from which ESP-IDF's `nvs_partition_gen` makes the image of the partition. Every value becomes a blob, because firmware
    /// reads it with `nvs_get_blob`.
    public var partitionRows: Secret {
        var rows = ["key,type,encoding,value", "rmaker_creds,namespace,,"]
        func add(_ key: String, _ value: [UInt8]) {
            let digits = Hex.text(value)
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
