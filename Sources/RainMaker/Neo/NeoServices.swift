// SPDX-License-Identifier: Apache-2.0
import RainAccount
import RainCore
import RainJSON

/// The addresses of a RainMaker Neo deployment besides its main API.
public struct NeoServices: Sendable, Equatable {
    /// The API for accounts, at which users sign in.
    public var accounts: ServiceURL
    /// The AWS region, such as `us-east-1`. Signatures name it.
    public var region: String
    /// The WebSocket of the MQTT broker: `https` for `wss`.
    public var broker: ServiceURL

    /// - Parameters:
    ///   - broker: the host of AWS IoT, or a URL for a broker elsewhere.
    /// - Throws: `invalidConfiguration` for an address or a region that cannot be one.
    public init(accounts: String, region: String, broker: String) throws(AccountError) {
        self.accounts = try ServiceURL(accounts)
        // Such as `us-east-1` and `us-gov-west-1`.
        let parts = region.split(separator: "-", omittingEmptySubsequences: false)
        guard (1...32).contains(region.utf8.count), parts.count >= 3,
            parts.allSatisfy({ part in !part.isEmpty && part.utf8.allSatisfy(\.isASCIILetterOrDigit) }),
            parts.last?.allSatisfy(\.isNumber) == true
        else {
            throw AccountError(
                .invalidConfiguration, message: "\"\(presentable(region))\" is not an AWS region, such as us-east-1")
        }
        self.region = region
        self.broker = try Self.broker(broker)
    }

    /// At AWS IoT the path is `/mqtt`.
    private static func broker(_ text: String) throws(AccountError) -> ServiceURL {
        // WebSocket schemes map to HTTP's: `wss` is `https`, and `ws` (only to this machine) is `http`.
        let url = text.hasPrefix("ws") && text.contains("://") ? "http" + text.dropFirst(2) : text
        let host = try ServiceURL(url.contains("://") ? url : "https://\(url)")
        let hasPath = host.text.split(separator: "/").count > 2
        return hasPath ? host : try ServiceURL(host.text + "/mqtt")
    }
}

/// The description of a deployment that Neo's installer publishes for clients: `rmng-client-outputs.json`.
///
/// It names the outputs of each part of the installation. Members that clients of accounts and nodes do not need are ignored.
public struct NeoOutputs: Sendable, Equatable {
    /// The main API (`ApiGatewayUrl`).
    public var api: String
    /// The other services.
    public var services: NeoServices
    /// The id of clients at the sign-in page (`EspUserClientId`).
    public var clientID: String

    /// The client that each installation has, if the document names none.
    public static let usualClientID = "user-pool-client"
    /// The maximum size in bytes. Real documents have a few kilobytes.
    public static let maximumBytes = 1 << 20

    /// - Parameter bytes: the JSON document.
    /// - Throws: `invalidConfiguration` for a document that is not one of these.
    public init(parsing bytes: [UInt8]) throws(AccountError) {
        let json: JSONValue
        do throws(JSONError) {
            json = try JSONValue(parsing: bytes, limits: JSONLimits(maximumBytes: Self.maximumBytes))
        } catch {
            throw AccountError(
                .invalidConfiguration, message: "the description of the deployment is not JSON: \(error.description)")
        }
        func text(_ part: String, _ member: String) throws(AccountError) -> String {
            if let text = json[part]?[member]?.string, !text.isEmpty { return text }
            throw AccountError(
                .invalidConfiguration,
                message:
                    "the description of the deployment has no \(member) in \(part): give the file rmng-client-outputs.json of a RainMaker "
                    + "Neo installation")
        }
        api = try text("rmng-base", "ApiGatewayUrl")
        _ = try ServiceURL(api)
        services = try NeoServices(
            accounts: try text("espuser-base", "EspUserApiUrl"), region: try text("rmng-base", "StackRegion"),
            broker: try text("rmng-base", "IoTEndpointUrl"))
        let given = json["espuser-base"]?["EspUserClientId"]?.unlessNull
        clientID = given == nil ? Self.usualClientID : try text("espuser-base", "EspUserClientId")
    }
}
