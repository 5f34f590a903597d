// SPDX-License-Identifier: Apache-2.0
import RainCore
import RainJSON

/// The codes and the page with which the user of a device without a browser signs in elsewhere (RFC 8628, section 3.2).
public struct DeviceAuthorization: Sendable, Equatable {
    /// The code with which the device asks for tokens.
    public var deviceCode: Secret
    /// The code that the user enters at the page. Another person who knows it could only sign in to their own account.
    public var userCode: String
    /// The page where the user enters the code.
    public var verificationURI: String
    /// The page with the code in its address, if the server has one.
    public var verificationURIComplete: String?
    /// The time to answer, in seconds.
    public var expiresIn: Double
    /// The minimum time between two questions, in seconds; 5 if the server does not say.
    public var interval: Double

    /// The maximum interval in seconds. A server that asks for more has a fault.
    public static let longestInterval = 300.0
    /// The maximum lifetime in seconds, a day. After that the client stops asking.
    public static let longestLife = 86_400.0

    /// - Throws: `missing` without the codes and the page. `malformed` for a code that is not visible ASCII, and for a member of the wrong
    ///   type. Also `malformed` for a page that is neither https nor plain http on this machine.
    public init(_ json: JSONValue) throws(OAuth2FormatError) {
        var (texts, numbers): ([String: String], [String: Double]) = ([:], [:])
        do throws(JSONError) {
            let own = try JSONMembers(json)
            // Servers still send the draft's name (gh: cli/oauth).
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
        else { throw OAuth2FormatError(.malformed, "the page for the code must have an https address") }
        return text
    }
}

extension FormRequest {
    /// Asks for a device's codes (RFC 8628, section 3.1).
    public static func deviceAuthorization(scope: [String]) -> FormRequest {
        scope.isEmpty ? FormRequest() : FormRequest([Field("scope", scope.joined(separator: " "))])
    }
}

/// Computes when to ask again whether the user has answered (RFC 8628, section 3.5). It gets the results and returns the waiting times.
public struct DevicePolling: Sendable, Equatable {
    /// The result of a question.
    public enum Outcome: Sendable, Equatable {
        /// `authorization_pending`.
        case pending
        /// `slow_down`.
        case slowDown
        /// There was no answer: no connection, a timeout, or a fault of the server. The server may have asked to wait.
        case nothing(retryAfter: Double?)
    }

    /// The current number of seconds between two questions.
    public private(set) var interval: Double
    /// When the codes expire, in seconds after their arrival.
    public let end: Double

    /// Creates the value from the server's numbers, both in seconds.
    public init(interval: Double, expiresIn: Double) {
        self.interval = interval
        end = expiresIn
    }

    /// Returns the time to wait before the first or next question; nil if the codes will have expired by then.
    /// - Parameter elapsed: seconds since the codes arrived.
    public func wait(at elapsed: Double) -> Double? {
        elapsed + interval < end ? interval : nil
    }

    /// Takes the result of a question. The next wait may be longer.
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
