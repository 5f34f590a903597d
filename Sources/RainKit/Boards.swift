import RainCryptoOpenSSL
import ESPProvisioning
import RainHTTPCurl
import Logging
import ProtocommBLE
import ProtocommSoftAP

/// Boards as most programs want them: OpenSSL for the handshake, libcurl for HTTP.
public enum Boards {
    /// A board whose access point this machine has joined, or that answers HTTP elsewhere. Nothing is sent yet.
    public static func softAP(
        host: String = SoftAPTransport.defaultHost, port: Int = 80, credentials: BoardCredentials, logger: Logger
    ) -> any Board {
        ProtocommBoard(
            transport: SoftAPTransport(http: CurlHTTPClient(), host: host, port: port, logger: logger),
            credentials: credentials, suite: OpenSSLCrypto.self, random: OpenSSLRandom(), logger: logger)
    }

    /// A board on a serial port, whichever console it has. The port is opened when the board is first asked something.
    public static func serial(path: String, credentials: BoardCredentials, logger: Logger) -> any Board {
        SerialBoard(path: path, credentials: credentials, logger: logger)
    }

    /// A board that is heard over Bluetooth Low Energy. It is looked for when it is first asked something.
    ///
    /// - Parameters:
    ///   - central: this machine's Bluetooth, one value for all boards of a process.
    ///   - times: how long it is looked for, above all.
    public static func bluetooth(
        _ board: BoardFilter, through central: BluetoothCentral, times: BLETransport.Times = .init(),
        credentials: BoardCredentials, logger: Logger
    ) -> any Board {
        ProtocommBoard(
            transport: BLETransport(to: board, times: times, logger: logger) { () throws(BluetoothError) in central },
            credentials: credentials, suite: OpenSSLCrypto.self, random: OpenSSLRandom(), logger: logger)
    }
}
