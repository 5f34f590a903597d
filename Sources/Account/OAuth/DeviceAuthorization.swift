// SPDX-License-Identifier: Apache-2.0
import RainCore
import RainJSON

/// What a device without a browser is given to sign in with elsewhere (RFC 8628, section 3.2).
public struct DeviceAuthorization: Sendable, Equatable {
    /// What the device asks for tokens with.
    public var deviceCode: Secret
    /// What the person enters at the page. Whoever knows it can answer in their own name, no more.
    public var userCode: String
    /// The page where the person enters the code.
    public var verificationURI: String
    /// The page with the code in its address, where the server has one.
    public var verificationURIComplete: String?
    /// How many seconds there are to answer.
    public var expiresIn: Double
    /// How many seconds are between two questions, at least: 5 if the server does not say.
    public var interval: Double

    /// A server may ask for patience; one that asks for more than that between two questions is out of order.
    public static let longestInterval = 300.0
    /// An authorization that is good for longer than a day is asked about for a day.
    public static let longestLife = 86_400.0

    /// - Throws: `missing` without the codes and the page, `malformed` for a code that is not visible ASCII, for a page that is neither https
    ///   nor on this machine's own http, and for a member of the wrong type.
    public init(_ json: JSONValue) throws(OAuth2FormatError) {
        var (texts, numbers): ([String: String], [String: Double]) = ([:], [:])
        do throws(JSONError) {
            let own = try JSONMembers(json)
            // The draft's name is still sent (gh: cli/oauth).
            let names = [
                "device_code", "user_code", "verification_uri", "verification_url", "verification_uri_complete",
            ]
            for name in names { texts[name] = try own.text(name).flatMap { $0.isEmpty ? nil : $0 } }
            for name in ["expires_in", "interval"] { numbers[name] = try own.lenientNumber(name) }
        } catch {
            throw OAuth2FormatError(error)
        }
        guard let code = texts["device_code"], let userCode = texts["user_code"],
            let page = texts["verification_uri"] ?? texts["verification_url"]
        else {
            throw OAuth2FormatError(.missing, "the answer lacks device_code, user_code or verification_uri")
        }
        guard code.utf8.allSatisfy(isVisible), userCode.utf8.allSatisfy(isVisible), userCode.utf8.count <= 64 else {
            throw OAuth2FormatError(.malformed, "a code is not visible ASCII, or too long to be entered")
        }
        deviceCode = Secret(code)
        self.userCode = userCode
        verificationURI = try Self.page(page)
        verificationURIComplete = try texts["verification_uri_complete"].map { text throws(OAuth2FormatError) in
            try Self.page(text)
        }
        expiresIn = min(max(numbers["expires_in"] ?? 1800, 0), Self.longestLife)
        interval = min(max(numbers["interval"] ?? 5, 1), Self.longestInterval)
    }

    private static func page(_ text: String) throws(OAuth2FormatError) -> String {
        let authority = text.drop { $0 != "/" }.dropFirst(2).prefix { !"/?#".contains($0) }
        let isLocal = ["127.0.0.1", "[::1]", "localhost"].contains { host in
            authority == host || authority.hasPrefix(host + ":")
        }
        guard text.hasPrefix("https://") || text.hasPrefix("http://") && isLocal, !authority.contains("@"),
            text.utf8.count <= RedirectURI.maximumLength, text.utf8.allSatisfy({ (0x21...0x7E).contains($0) })
        else { throw OAuth2FormatError(.malformed, "the page to enter the code at has no https address") }
        return text
    }
}

extension FormRequest {
    /// Asks for a device's codes (RFC 8628, section 3.1).
    public static func deviceAuthorization(scope: [String]) -> FormRequest {
        scope.isEmpty ? FormRequest() : FormRequest([Field("scope", scope.joined(separator: " "))])
    }
}

/// When to ask again whether the person has answered (RFC 8628, section 3.5): a value that is told what came and says what is next.
public struct DevicePolling: Sendable, Equatable {
    /// What came of a question.
    public enum Outcome: Sendable, Equatable {
        /// `authorization_pending`.
        case pending
        /// `slow_down`.
        case slowDown
        /// Nothing came: no connection, no answer in time, a fault of the server's. It may have asked for a rest.
        case nothing(retryAfter: Double?)
    }

    /// Seconds between two questions, as of now.
    public private(set) var interval: Double
    /// When the codes end, in seconds since they came.
    public let end: Double

    /// Both in seconds, as the server gave them.
    public init(interval: Double, expiresIn: Double) {
        self.interval = interval
        end = expiresIn
    }

    /// How long to wait before the first question, or before the next one; nil if the codes will have ended by then.
    /// - Parameter elapsed: seconds since the codes came.
    public func wait(at elapsed: Double) -> Double? {
        elapsed + interval < end ? interval : nil
    }

    /// Takes in what came of a question: the next one may have to wait longer.
    public mutating func hear(_ outcome: Outcome) {
        switch outcome {
        case .pending: break
        case .slowDown: interval = min(interval + 5, DeviceAuthorization.longestInterval)
        // "must unilaterally reduce their polling frequency … an exponential backoff … is RECOMMENDED"
        case .nothing(let rest):
            interval = min(max(interval * 2, rest ?? 0), DeviceAuthorization.longestInterval)
        }
    }
}
