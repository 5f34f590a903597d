// SPDX-License-Identifier: Apache-2.0
import RainCore
import RainMosquitto
import Testing

@testable import RainKit

@Suite("What a bridge says of its broker, and does then")
struct BrokerFaultTests {
    private static func fault(_ end: MosquittoEnd, _ url: String = "mqtts://broker") throws -> BrokerFault {
        BrokerFault(end, at: try MQTTBroker(url))
    }

    @Test(
        "a missing or wrong password has one sentence in both versions of MQTT",
        arguments: [4, 5, 0x86, 0x87] as [Int32])
    func credentials(code: Int32) throws {
        let fault = try Self.fault(.refused(code: code, "the user name or the password is missing or wrong"))
        #expect(fault.error.code == .auth && fault.error.reason == "broker_refused")
        #expect(
            fault.error.message
                == "The broker broker:8883 refuses the connection: the user name or the password is missing or wrong.")
        #expect(fault.error.remedies == [.brokerCredentials])
    }

    @Test(
        "a refused message names its topic, and what the broker has to allow",
        arguments: [
            (0x87, "does not let this user write the topic a/b. Allow this in the broker's access list"),
            (0x95, "for the topic a/b, because the message is too large. Raise the broker's limit (message_size_limit"),
            (0x83, "refuses a message for the topic a/b (reason code 131)"),
        ] as [(Int32, String)])
    func messages(code: Int32, text: String) throws {
        let end = MosquittoEnd.refusedMessage(topic: "a/b", code: code)
        let error = try Self.fault(end).error
        #expect(error.code == .auth && error.reason == "broker_refused" && error.message.contains(text))
        for hasWorked in [false, true] {
            #expect(BrokerFault.Course(after: end, hasWorked: hasWorked, isVersion5: true) == .fail)
        }
    }

    @Test("a refused subscription names what the user may not read")
    func subscriptions() throws {
        let error = try Self.fault(.refusedSubscription(filter: "rainkit/#", code: 0x87)).error
        #expect(error.code == .auth && error.reason == "broker_refused")
        #expect(error.message.contains("does not let this user read the topics rainkit/#."))
    }

    @Test("a broker without quality of service 2 or retained messages is not tried again")
    func abilities() throws {
        for end in [
            MosquittoEnd.refused(code: 0x9B, ""), .ended(code: 0x9B, ""), .refusedMessage(topic: "a", code: 0x9B),
        ] {
            let error = try Self.fault(end).error
            #expect(error.code == .config && error.reason == "broker_without_qos")
            #expect(error.message.contains("does not support quality of service 2"))
            #expect(BrokerFault.Course(after: end, hasWorked: true, isVersion5: true) == .fail)
        }
        #expect(try Self.fault(.refused(code: 0x9A, "")).error.reason == "broker_without_retain")
    }

    /// The lines of libmosquitto 2.0 with OpenSSL 3.
    static let lines: [([String], MosquittoEnd.TLSFault)] = [
        (["OpenSSL Error[0]: error:0A000126:SSL routines::unexpected eof while reading"], .noTLS),
        (["OpenSSL Error[0]: error:0A00010B:SSL routines::wrong version number"], .noTLS),
        (["OpenSSL Error[0]: error:0A000086:SSL routines::certificate verify failed"], .untrusted),
        (
            [
                "Error: host name verification failed.",
                "OpenSSL Error[0]: error:0A000086:SSL routines::certificate verify failed",
            ], .otherHost
        ),
        (["OpenSSL Error[0]: error:0A00045C:SSL routines::tlsv13 alert certificate required"], .clientCertificate),
        (["OpenSSL Error[0]: error:0A000418:SSL routines::tlsv1 alert unknown ca"], .clientCertificate),
        (
            [
                "Error: Unable to load client key file \"k\".",
                "OpenSSL Error[0]: error:05800074:x509 certificate routines::key values mismatch",
            ], .otherKey
        ),
        (["Error: Unable to load client key file \"k\".", "OpenSSL Error[0]: unsupported"], .file(.key)),
        (["Error: Unable to load client certificate \"c\"."], .file(.certificate)),
        (["Error: Unable to load CA certificates, check cafile \"a\"."], .file(.authorities)),
        (["OpenSSL Error[0]: something else"], .other), ([], .other),
    ]

    @Test("the cause of a TLS error is found in what is logged", arguments: lines)
    func tlsCauses(lines: [String], fault: MosquittoEnd.TLSFault) {
        #expect(MosquittoEnd.TLSFault(lines) == fault)
    }

    /// The numbers of OpenSSL's x509_vfy.h: not valid yet, expired, self-signed, without the issuer's certificate.
    @Test(
        "what OpenSSL says of the certificate names the cause",
        arguments: [(9, .notYetValid), (10, .expired), (18, .selfSigned), (20, .untrusted), (0, .untrusted)]
            as [(Int, MosquittoEnd.TLSFault)])
    func verification(result: Int, fault: MosquittoEnd.TLSFault) {
        let line = "OpenSSL Error[0]: error:0A000086:SSL routines::certificate verify failed"
        #expect(MosquittoEnd.TLSFault([line], verification: result) == fault)
        #expect(
            MosquittoEnd.TLSFault(["Error: host name verification failed.", line], verification: result) == .otherHost)
    }

    @Test("errors of TLS say which side is wrong, and have the remedy for it")
    func tls() throws {
        func message(_ fault: MosquittoEnd.TLSFault) throws -> (String, [Remedy]) {
            let fault = try Self.fault(.tls(fault, "detail"))
            #expect(fault.error.code == .config && fault.error.reason == "broker_tls")
            return (fault.error.message, fault.error.remedies)
        }
        #expect(try message(.noTLS).0.contains("does not speak TLS (detail). Use the port for TLS, or mqtt://"))
        #expect(try message(.otherHost).0.contains("is for another host"))
        let untrusted = try message(.untrusted)
        #expect(untrusted.0.contains("trusted here (detail)") && untrusted.1 == [.brokerAuthorities])
        #expect(try message(.selfSigned).1 == [.brokerAuthorities])
        #expect(try message(.expired).0.contains("has expired, or this machine's clock is wrong."))
        #expect(try message(.notYetValid).0.contains("is not valid yet"))
        let wanted = try message(.clientCertificate)
        #expect(wanted.0.contains("requires a client certificate") && wanted.1 == [.brokerClientCertificate])
        #expect(try message(.encryptedKey).0.hasPrefix("The client's key for broker:8883 is encrypted."))
        #expect(try message(.otherKey).1 == [.brokerClientCertificate])
        var broker = try MQTTBroker("mqtts://broker")
        broker.certificate = "c"
        #expect(
            BrokerFault(.tls(.clientCertificate, "detail"), at: broker).error.message.contains(
                "does not accept the client's certificate"))
    }

    @Test("a file that cannot be used is named with the system's reason")
    func files() throws {
        let fault = try Self.fault(.file(.key, "/x/k", reason: "No such file or directory"))
        #expect(fault.error.reason == "broker_files" && fault.error.remedies == [.brokerClientCertificate])
        #expect(
            fault.error.message
                == "The client's key \"/x/k\" cannot be used for the broker broker:8883: No such file or directory.")
    }

    @Test(
        "lines about an outage have the address and the cause; a closed connection mentions the other scheme at first")
    func outages() throws {
        let (plain, secure) = (try MQTTBroker("mqtt://b:1"), try MQTTBroker("mqtts://b:2"))
        func line(_ end: MosquittoEnd, _ broker: MQTTBroker, hasWorked: Bool = false) -> String {
            let reason = BrokerFault.outage(end, at: broker, hasWorked: hasWorked)
            return HomeAssistantBridge.Event.disconnected(reason: reason).description
        }
        #expect(line(.network("Connection refused"), plain) == "no connection to b:1: Connection refused; trying again")
        #expect(line(.closed("lost"), plain).contains("the port may require TLS (then use mqtts://)"))
        #expect(line(.closed("lost"), secure).contains("the port may not speak TLS (then use mqtt://)"))
        #expect(line(.closed("lost"), plain, hasWorked: true) == "no connection to b:1: lost; trying again")
    }

    @Test("a broker that has let the bridge in is tried again; older brokers get MQTT 3.1.1")
    func courses() {
        func course(_ end: MosquittoEnd, _ hasWorked: Bool = false, _ isVersion5: Bool = true) -> BrokerFault.Course {
            BrokerFault.Course(after: end, hasWorked: hasWorked, isVersion5: isVersion5)
        }
        for end in [MosquittoEnd.refused(code: 0x87, ""), .tls(.untrusted, "")] {
            #expect(course(end) == .fail && course(end, true) == .retry)
        }
        #expect(course(.refused(code: 1, "")) == .olderVersion && course(.refused(code: 1, ""), false, false) == .fail)
        #expect(course(.network("")) == .retry && course(.closed("")) == .retry)
        #expect(course(.refused(code: 0x88, "")) == .retry && course(.stopped) == .end)
        #expect(course(.refusedMessage(topic: "a", code: 0x97), true) == .retry)
    }
}

@Suite("Messages that a broker must acknowledge")
struct MosquittoOutboxTests {
    private static func message(_ topic: String, _ text: String = "") -> MosquittoOutbox.Message {
        .init(topic: topic, payload: Array(text.utf8), isRetained: true)
    }

    @Test("messages go in their order, one at a time, and a newer one replaces one that waits")
    func order() {
        var outbox = MosquittoOutbox()
        for (topic, text) in [("a", "1"), ("b", "1"), ("a", "2"), ("c", "1")] { outbox.add(Self.message(topic, text)) }
        var taken: [MosquittoOutbox.Message] = []
        while let message = outbox.take() {
            // Another thread gets none meanwhile.
            #expect(outbox.take() == nil)
            taken.append(message)
            #expect(outbox.sent(Int32(taken.count)) == nil)
        }
        #expect(taken == [Self.message("b", "1"), Self.message("a", "2"), Self.message("c", "1")])
        #expect(outbox.acknowledged(2, 0) == "a" && outbox.acknowledged(2, 0) == nil)
        #expect(outbox.acknowledged(99, 0) == nil)
    }

    @Test("only a few messages are on their way, and a broker that is slow makes it no larger than the topics")
    func bounds() {
        var outbox = MosquittoOutbox()
        for number in 0..<100_000 { outbox.add(Self.message("\(number % 500)", "\(number)")) }
        #expect(outbox.waiting == 500)
        var sent: Int32 = 0
        while outbox.take() != nil {
            sent += 1
            #expect(outbox.sent(sent) == nil)
        }
        #expect(sent == Int32(MosquittoOutbox.maximumSent))
        #expect(outbox.acknowledged(1, 0) != nil)
        #expect(outbox.take() != nil)
    }

    @Test("an acknowledgement that comes before the identifier is known is not lost")
    func early() {
        var outbox = MosquittoOutbox()
        outbox.add(Self.message("a"))
        #expect(outbox.take() != nil)
        #expect(outbox.acknowledged(7, 0x87) == nil)
        let refused = outbox.sent(7)
        #expect(refused?.topic == "a" && refused?.code == 0x87)
        // A message that the library does not take leaves the next one its turn.
        outbox.add(Self.message("b"))
        outbox.add(Self.message("c"))
        #expect(outbox.take()?.topic == "b")
        outbox.failed()
        #expect(outbox.take()?.topic == "c")
    }
}
