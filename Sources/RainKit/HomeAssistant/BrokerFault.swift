// SPDX-License-Identifier: Apache-2.0
import RainCore
import RainMosquitto

/// Why a bridge cannot work with its broker. The sentences say what happened, where, and what to try.
struct BrokerFault {
    /// What a bridge does after its connection has ended.
    enum Course: Equatable {
        case end, retry, fail
        /// Connect with MQTT 3.1.1.
        case olderVersion
    }

    let error: RainKitError

    init(_ end: MosquittoEnd, at broker: MQTTBroker) {
        let (code, reason, message, remedy) = Self.parts(end, broker)
        error = RainKitError(
            .request(code, reason: reason), message: message, remedies: remedy.map { [$0] } ?? [])
    }

    private typealias Parts = (RainKitError.Code, reason: String, message: String, Remedy?)

    private static func parts(_ end: MosquittoEnd, _ broker: MQTTBroker) -> Parts {
        switch end {
        case .refused(0x9A, _), .ended(0x9A, _), .refusedMessage(_, 0x9A):
            return (
                .config, reason: "broker_without_retain",
                "The broker \(broker) does not retain messages, but Home Assistant needs retained messages. Allow them (retain_available).",
                nil
            )
        case .refused(0x9B, _), .ended(0x9B, _), .refusedMessage(_, 0x9B), .refusedSubscription(_, 0x9B):
            return (
                .config, reason: "broker_without_qos",
                "The broker \(broker) does not support quality of service 2, but commands need it. Allow quality of service 2 (max_qos 2).",
                nil
            )
        case .ended(0x8E, _):
            return (
                .unavailable, reason: "base_topic_in_use",
                "Another client took over the session at \(broker), most likely a bridge with the same base topic. End that bridge, or "
                    + "choose another base topic.", nil
            )
        case .refused(4...5, let text), .refused(0x86...0x87, let text):
            return (
                .auth, reason: "broker_refused", "The broker \(broker) refuses the connection: \(text).",
                .brokerCredentials
            )
        case .refused(_, let text):
            return (.auth, reason: "broker_refused", "The broker \(broker) refuses the connection: \(text).", nil)
        case .ended(_, let text):
            return (.auth, reason: "broker_refused", "The broker \(broker) ended the connection: \(text).", nil)
        case .refusedMessage(let topic, let code):
            return (.auth, reason: "broker_refused", refused(topic, code, broker), nil)
        case .refusedSubscription(let filter, let code):
            let cause = code == 0x80 || code == 0x87 ? "" : " (reason code \(code))"
            return (
                .auth, reason: "broker_refused",
                "The broker \(broker) does not let this user read the topics \(filter.onOneLine)\(cause). Allow the user to read and write the bridge's topics in the broker's access list (ACL).",
                nil
            )
        case .tls(let fault, let text):
            let (message, remedy) = insecure(fault, text, broker)
            return (.config, reason: "broker_tls", message, remedy)
        case .file(let file, let path, let text):
            return (
                .config, reason: "broker_files",
                "\(name(file)) \"\(path.onOneLine)\" cannot be used for the broker \(broker): \(text.onOneLine).",
                file == .authorities ? .brokerAuthorities : .brokerClientCertificate
            )
        case .noLibrary:
            return (
                .unavailable, reason: "no_library",
                "The bridge needs libmosquitto, which is not installed (Debian: libmosquitto1).", nil
            )
        // These are tried again.
        case .network, .closed, .stopped:
            return (
                .unavailable, reason: "unavailable",
                "There is no connection to the broker \(outage(end, at: broker, hasWorked: true)).", nil
            )
        }
    }

    private static func refused(_ topic: String, _ code: Int32, _ broker: MQTTBroker) -> String {
        let topic = topic.onOneLine
        return switch code {
        case 0x87:
            "The broker \(broker) does not let this user write the topic \(topic). Allow this in the broker's access list (ACL)."
        case 0x95:
            "The broker \(broker) refuses a message for the topic \(topic), because the message is too large. Raise the broker's limit "
                + "(message_size_limit, max_packet_size)."
        default:
            "The broker \(broker) refuses a message for the topic \(topic) (reason code \(code)). The broker's log may show the reason."
        }
    }

    private static func insecure(
        _ fault: MosquittoEnd.TLSFault, _ text: String, _ broker: MQTTBroker
    ) -> (String, Remedy?) {
        let text = text.onOneLine
        return switch fault {
        case .noTLS:
            (
                "The port \(broker) does not speak TLS (\(text)). Use the port for TLS, or mqtt:// for a connection without encryption.",
                nil
            )
        case .otherHost:
            (
                "The certificate of the broker \(broker) is for another host. Use the host name that is in the certificate.",
                nil
            )
        case .untrusted:
            (
                "The certificate of the broker \(broker) is not signed by an authority that is trusted here (\(text)).",
                .brokerAuthorities
            )
        case .selfSigned:
            ("The certificate of the broker \(broker) is self-signed, and it is not trusted here.", .brokerAuthorities)
        case .expired:
            ("The certificate of the broker \(broker) has expired, or this machine's clock is wrong.", nil)
        case .notYetValid:
            ("The certificate of the broker \(broker) is not valid yet, or this machine's clock is wrong.", nil)
        case .encryptedKey:
            (
                "The client's key for \(broker) is encrypted. Give a key without a passphrase, in a file that only you can read.",
                .brokerClientCertificate
            )
        case .otherKey:
            ("The client's key for \(broker) does not belong to the client's certificate.", .brokerClientCertificate)
        case .clientCertificate:
            (
                broker.certificate == nil
                    ? "The broker \(broker) requires a client certificate (\(text))."
                    : "The broker \(broker) does not accept the client's certificate (\(text)).",
                .brokerClientCertificate
            )
        case .file, .other: ("The connection to \(broker) cannot be encrypted: \(text).", nil)
        }
    }

    private static func name(_ file: MosquittoEnd.TLSFile) -> String {
        switch file {
        case .authorities: "The file of certificate authorities"
        case .certificate: "The client's certificate"
        case .key: "The client's key"
        }
    }

    /// Returns the address and the cause, for a connection that is tried again.
    ///
    /// - Parameter hasWorked: whether the broker has accepted a connection before. Its address is right then.
    static func outage(_ end: MosquittoEnd, at broker: MQTTBroker, hasWorked: Bool) -> String {
        switch end {
        case .closed(let text) where !hasWorked:
            let advice =
                broker.isSecure
                ? "the port may not speak TLS (then use mqtt://)" : "the port may require TLS (then use mqtts://)"
            return
                "\(broker): the connection was closed before the broker had accepted this client: \(advice), the port may belong to another service, or the broker may accept no more clients (\(text))"
        case .refused(_, let text), .ended(_, let text), .tls(_, let text), .closed(let text), .network(let text):
            return "\(broker): \(text)"
        case .refusedMessage(let topic, let code):
            return "\(broker): it refused a message for the topic \(topic) (reason code \(code))"
        case .refusedSubscription(let filter, let code):
            return "\(broker): it refused the subscription to \(filter) (reason code \(code))"
        case .file(let file, let path, let text): return "\(broker): \(name(file)) \"\(path)\": \(text)"
        case .noLibrary: return "\(broker): libmosquitto is not installed"
        case .stopped: return "\(broker): stopped"
        }
    }

    /// A warning about commands that may come twice.
    static func lowered(_ filter: String, _ quality: Int32, at broker: MQTTBroker) -> String {
        "The broker \(broker) offers \(filter.onOneLine) only quality of service \(quality). After an outage, a command may be lost or arrive twice. Allow quality of service 2 (max_qos 2)."
    }
}

extension BrokerFault.Course {
    /// - Parameters:
    ///   - hasWorked: whether the broker has accepted the bridge before.
    ///   - isVersion5: whether the connection used MQTT 5.
    init(after end: MosquittoEnd, hasWorked: Bool, isVersion5: Bool) {
        switch end {
        case .stopped: self = .end
        case .refused(1, _), .refused(0x84, _): self = isVersion5 ? .olderVersion : .fail
        // A broker that has let the bridge in may be about to get its new settings.
        case .refused(4...5, _), .refused(0x86...0x87, _), .tls: self = hasWorked ? .retry : .fail
        case .refused(0x9A...0x9B, _), .ended(0x9A...0x9B, _), .ended(0x8E, _), .file, .noLibrary: self = .fail
        // Nobody would see that something is missing in Home Assistant. A quota is a matter of time.
        case .refusedMessage(_, let code), .refusedSubscription(_, let code): self = code == 0x97 ? .retry : .fail
        case .refused, .ended, .network, .closed: self = .retry
        }
    }
}
