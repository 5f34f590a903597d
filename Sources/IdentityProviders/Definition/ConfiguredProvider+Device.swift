// SPDX-License-Identifier: Apache-2.0
import RainAccount
import RainCore
import RainHTTP

extension ConfiguredProvider {
    /// Asks for the codes of a sign-in on another device (RFC 8628): the person opens the page there and enters the user code.
    public func beginDeviceSignIn() async throws(AccountError) -> DeviceAuthorization {
        try demand(.deviceCode)
        let url = try await endpoint("device")
        let reply = try await post(
            .deviceAuthorization(scope: scope), to: url, as: try await client(for: .deviceCode), for: .deviceCode)
        do throws(OAuth2FormatError) {
            return try DeviceAuthorization(reply.json)
        } catch {
            throw AccountError(.malformedAnswer, message: "\(title) gave no codes for a device: \(error.message)")
        }
    }

    /// Asks, at the server's pace, until the person has answered.
    ///
    /// - Throws: `accessDenied` if the person said no, `codeExpired` when the time is over, `cancelled` at once. What passes (no network,
    ///   a fault of the server's) only makes the questions rarer.
    public func awaitDeviceSignIn(
        _ authorization: DeviceAuthorization, by clock: some Clock<Duration> = ContinuousClock()
    ) async throws(AccountError) -> SignInCredentials {
        let client = try await client(for: .deviceCode)
        let url = try await endpoint("token")
        let form = form(.deviceCode(authorization.deviceCode), for: .deviceCode)
        var polling = DevicePolling(interval: authorization.interval, expiresIn: authorization.expiresIn)
        let start = clock.now
        while let wait = polling.wait(at: start.duration(to: clock.now) / .seconds(1)) {
            guard (try? await clock.sleep(for: .seconds(wait))) != nil else {
                throw AccountError(
                    .cancelled, message: "cancelled while waiting for the sign-in on another device",
                    unfinished: "nobody has entered the code on another device")
            }
            do throws(AccountError) {
                let reply = try await post(form, to: url, as: client, for: .deviceCode)
                return .tokens(try response(reply), isDirect: true)
            } catch {
                polling.hear(try outcome(of: error))
            }
        }
        throw AccountError(.codeExpired, message: "nobody entered the code in time; begin again")
    }

    /// What an answer without tokens means for the next question; throws what ends the wait.
    private func outcome(of error: AccountError) throws(AccountError) -> DevicePolling.Outcome {
        switch error.serverCause {
        case OAuthError.Code.authorizationPending.rawValue: return .pending
        case OAuthError.Code.slowDown.rawValue: return .slowDown
        default: break
        }
        guard [.network, .proxy, .timeout, .serverFault, .rateLimited].contains(error.code) else { throw error }
        return .nothing(retryAfter: error.retryAfter.map { $0 / .seconds(1) })
    }
}
