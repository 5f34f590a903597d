// SPDX-License-Identifier: Apache-2.0

/// Why a connection to a broker has ended.
package enum MosquittoEnd: Error, Sendable, Equatable {
    /// libmosquitto is not installed.
    case noLibrary
    /// The broker refused the connection; its reason code.
    case refused(code: Int32, String)
    /// The broker ended the connection; its reason code.
    case ended(code: Int32, String)
    /// The broker refused a message for this topic, or this program did so for it; the reason code of MQTT 5.
    case refusedMessage(topic: String, code: Int32)
    /// The broker refused a subscription.
    case refusedSubscription(filter: String, code: Int32)
    /// TLS failed, such as for a certificate of another host; what libmosquitto and OpenSSL said.
    case tls(TLSFault, String)
    /// A file of certificates or a key cannot be used.
    case file(TLSFile, String, reason: String)
    /// The other side closed the connection before it accepted or refused anything.
    case closed(String)
    /// The network.
    case network(String)
    /// It was stopped.
    case stopped

    /// The files of an encrypted connection.
    package enum TLSFile: Sendable, Equatable, CaseIterable { case authorities, certificate, key }

    /// Why TLS failed.
    package enum TLSFault: Sendable, Equatable {
        /// The other side does not speak TLS.
        case noTLS
        /// The certificate is for another host.
        case otherHost
        /// The certificate is not signed by a trusted authority, or what is wrong with it is unknown.
        case untrusted
        /// The certificate is signed with its own key, and is not among the trusted ones.
        case selfSigned
        /// By the clock of this machine, the certificate has expired.
        case expired
        /// By the clock of this machine, the certificate is not valid yet.
        case notYetValid
        /// The client's key does not belong to its certificate.
        case otherKey
        /// The client's key is encrypted, and nobody is asked for its passphrase.
        case encryptedKey
        /// The broker wants a certificate of the client, or does not accept the given one.
        case clientCertificate
        /// libmosquitto cannot use this file.
        case file(TLSFile)
        case other
    }
}

extension MosquittoEnd.TLSFault {
    /// Finds the cause in the lines that libmosquitto has logged, of which the last ones are OpenSSL's.
    ///
    /// - Parameter verification: OpenSSL's result of the certificate's verification, a number of its x509_vfy.h; 0 if it is unknown.
    package init(_ lines: [String], verification: Int = 0) {
        let text = lines.joined(separator: "\n")
        func says(_ words: String...) -> Bool { words.contains { text.contains($0) } }
        // The line about the key's file comes with it.
        if says("key values mismatch") {
            self = .otherKey
        } else if says("problems getting password", "bad password read", "bad decrypt") {
            self = .encryptedKey
        } else if says("Unable to load CA certificates") {
            self = .file(.authorities)
        } else if says("Unable to load client certificate") {
            self = .file(.certificate)
        } else if says("Unable to load client key file") {
            self = .file(.key)
        } else if says("host name verification failed") {
            self = .otherHost
        } else if says("certificate verify failed") {
            self =
                switch verification {
                case 9: .notYetValid
                case 10: .expired
                case 18: .selfSigned
                default: .untrusted
                }
        } else if says("alert certificate", "alert bad certificate", "alert unknown ca", "certificate required") {
            self = .clientCertificate
        } else if says("wrong version number", "unexpected eof", "packet length too long", "http request") {
            self = .noTLS
        } else {
            self = .other
        }
    }
}
