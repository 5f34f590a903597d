// SPDX-License-Identifier: Apache-2.0
import RainAccount
import RainHTTP
import RainJSON
import Synchronization

/// The keys that a server publishes, once they were asked for. Shared by all copies of a provider.
final class KnownIdentityKeys: Sendable {
    private let value = Mutex<JSONWebKeySet?>(nil)
    var known: JSONWebKeySet? { value.withLock { $0 } }
    func set(_ keys: JSONWebKeySet) { value.withLock { $0 = keys } }
}

extension ConfiguredProvider {
    /// The provider's keys as it publishes them now: they change (OpenID Connect Core 1.0, section 10.1.1).
    /// - Throws: what may pass, where they cannot be had. Nothing is said about the token by that.
    func fetchedKeys(_ url: String, within deadline: Duration) async throws(AccountError) -> JSONWebKeySet {
        let request = HTTPRequest(
            method: .get, url: url, headers: HTTPRequest.usualHeaders, deadline: deadline,
            maximumResponseBytes: JSONWebKeySet.maximumBytes)
        let json: JSONValue
        do throws(AccountError) {
            json = try await exchange(request).json
        } catch {
            // This server's refusals are about its document, not about the user.
            guard !error.isTransient, error.code != .cancelled else { throw error }
            throw noKeys(at: url, error.status.map { "HTTP \($0)" } ?? error.message, status: error.status)
        }
        do throws(OAuth2FormatError) {
            let keys = try JSONWebKeySet(json)
            identityKeys.set(keys)
            return keys
        } catch {
            throw noKeys(at: url, error.message)
        }
    }

    private func noKeys(at url: String, _ why: String, status: Int? = nil) -> AccountError {
        AccountError(
            .malformedAnswer,
            message: "there are no keys to check \(title)'s id tokens by at \(presentable(url)): \(why); "
                + "try again later",
            status: status)
    }
}
