// SPDX-License-Identifier: Apache-2.0
import RainAccount
import RainCore
import RainCrypto
import RainHTTP
import RainJSON
import Synchronization

extension ConfiguredProvider {
    /// An ID token, and the values that it is checked against.
    struct IdentityTokenReceipt {
        var token: Secret
        /// The access token that arrived with it.
        var access: Secret
        /// The nonce of the authorization request.
        var nonce: String?
        /// The ID token of the sign-in, if a renewal returned this one.
        var renewing: Secret?
        /// Whether the client that the token must be for is known. False for calls of an extension that name no client.
        var namesClient = true
        /// Whether it came from the provider over TLS, and not through the browser.
        var isDirect = true
        /// The time by the server's clock, if known.
        var serverTime: UnixTime?
    }

    /// Checks an ID token as OpenID Connect Core 1.0 requires (sections 3.1.3.7 and 3.2.2.11; 12.2 for a renewal).
    /// - Throws: `untrustedAnswer` with the cause; the errors of fetching the provider's keys.
    func check(_ receipt: IdentityTokenReceipt) async throws(AccountError) {
        let client = receipt.namesClient ? try clientID() : nil
        let claims = try IdentityTokenCheck(
            clientID: client, issuer: try await issuer(), nonce: receipt.nonce,
            now: receipt.serverTime ?? tools.clock.now, isOpenID: definition.discovery != nil
        ).check(receipt.token)
        guard let claims else { return }
        if let old = receipt.renewing.flatMap(JSONWebToken.claims) {
            try IdentityTokenCheck.checkRenewal(claims, of: old)
        }
        try await checkSignature(receipt)
        try checkAccessToken(receipt, claims)
    }

    /// Checks `at_hash`: the access token must be the one that the ID token was issued with (section 3.1.3.6). Tokens from the browser must
    /// have it (3.2.2.10).
    private func checkAccessToken(_ receipt: IdentityTokenReceipt, _ claims: JSONValue) throws(AccountError) {
        guard let hash = claims["at_hash"]?.unlessNull else {
            guard receipt.isDirect else { throw .untrusted("does not name its access token (at_hash)") }
            return
        }
        // The hash is that of the token's own algorithm. All supported ones use SHA-256.
        guard JSONWebToken.algorithm(of: receipt.token)?.hasSuffix("256") == true else { return }
        let half = Array(tools.hashes.sha256(receipt.access.revealBytes()).prefix(16))
        guard hash == .string(Base64.urlText(half)) else {
            throw .untrusted("belongs to another access token (at_hash)")
        }
    }
}

extension ConfiguredProvider {
    /// Checks the signer of an ID token (OpenID Connect Core 1.0, section 3.1.3.7, rules 6 to 8).
    /// - Throws: `untrustedAnswer` with the cause; the errors of fetching the provider's keys.
    private func checkSignature(_ receipt: IdentityTokenReceipt) async throws(AccountError) {
        let registered = definition.client?.identityTokenAlgorithm.flatMap(text)
        let keysURL = try await findEndpoint("keys")
        guard keysURL != nil || registered != nil || !receipt.isDirect else {
            // If the provider publishes no keys, TLS replaces the signature (rule 6).
            return
        }
        let signature: JSONWebSignature
        do throws(OAuth2FormatError) {
            signature = try JSONWebSignature(receipt.token)
        } catch {
            throw .untrusted("cannot be checked: \(error.message)")
        }
        if let registered, signature.algorithm != registered {
            throw .untrusted(
                "is signed with \(presentable(signature.algorithm)), but \(registered) is registered (alg)")
        }
        if signature.algorithm == Self.sharedSecret, registered != nil || receipt.isDirect,
            registered != nil || settings.clientSecret != nil
        {
            return try checkSharedSecret(signature)
        }
        guard let scheme = SignatureScheme(name: signature.algorithm) else {
            var isExpected = registered != nil
            if !isExpected { isExpected = try await lists(signature.algorithm) }
            guard receipt.isDirect, isExpected else { throw unknown(signature.algorithm) }
            // The token is valid, but its algorithm is not supported here. TLS replaces the signature again.
            return
        }
        guard let keysURL else {
            guard receipt.isDirect else {
                throw .untrusted("came through the browser, but \(title) publishes no keys to check its signature")
            }
            return
        }
        try await check(signature, scheme, by: keysURL, isRenewal: receipt.renewing != nil)
    }

    /// The algorithm of HMAC with the client's secret as key (OpenID Connect Core 1.0, section 10.1). It never uses the bytes of a
    /// published key, with which anybody could sign. Clients without a secret get no such tokens.
    private static let sharedSecret = "HS256"

    private func checkSharedSecret(_ signature: JSONWebSignature) throws(AccountError) {
        guard let secret = settings.clientSecret else {
            throw AccountError(
                .missingParameter, message: "\(title) signs ID tokens with the client's secret, which is missing",
                remedies: [.clientSecret])
        }
        let own = KeyedHash(key: secret, hashes: tools.hashes)(signature.message)
        guard equalInConstantTime(own, signature.signature) else { throw Self.wrongSignature }
    }

    /// Returns whether the provider lists this algorithm (`id_token_signing_alg_values_supported`), with its own key.
    private func lists(_ algorithm: String) async throws(AccountError) -> Bool {
        guard definition.discovery != nil, !algorithm.hasPrefix("HS"), algorithm.lowercased() != "none" else {
            return false
        }
        return try await serverMetadata().identityTokenAlgorithms.contains(algorithm)
    }

    private func check(
        _ signature: JSONWebSignature, _ scheme: SignatureScheme, by url: String, isRenewal: Bool
    ) async throws(AccountError) {
        if let known = identityKeys.known, isValid(signature, scheme, by: known) { return }
        let keys: JSONWebKeySet
        do throws(AccountError) {
            keys = try await fetchedKeys(url, within: isRenewal ? .seconds(3) : .seconds(10))
        } catch {
            // The refresh token has been used. The new tokens arrived over TLS, and are not discarded because another document is missing.
            // A process that ends waits only a few seconds for this.
            guard isRenewal else { throw error }
            return
        }
        guard !keys.keys(for: signature, as: scheme).isEmpty else {
            throw .untrusted("is signed with a key that \(title) does not publish (kid)")
        }
        guard isValid(signature, scheme, by: keys) else { throw Self.wrongSignature }
    }

    private func isValid(_ signature: JSONWebSignature, _ scheme: SignatureScheme, by keys: JSONWebKeySet) -> Bool {
        keys.keys(for: signature, as: scheme).contains { key in
            tools.signatures.isValid(signature.signature, for: signature.message, by: key.numbers, as: scheme)
        }
    }

    private static let wrongSignature = AccountError.untrusted("has a signature that is not its provider's")

    private func unknown(_ algorithm: String) -> AccountError {
        let known = SignatureScheme.allCases.map(\.name).joined(separator: ", ")
        return .untrusted(
            "is signed with \(presentable(algorithm)), which is not supported (alg)",
            "register the client for one of \(known) (id_token_signed_response_alg)")
    }
}

/// The keys that a server publishes, after they were requested. All copies of a provider share them.
final class KnownIdentityKeys: Sendable {
    private let value = Mutex<JSONWebKeySet?>(nil)
    fileprivate var known: JSONWebKeySet? { value.withLock { $0 } }
    fileprivate func set(_ keys: JSONWebKeySet) { value.withLock { $0 = keys } }
}

extension ConfiguredProvider {
    /// Returns the keys that the provider publishes now. They change (OpenID Connect Core 1.0, section 10.1.1).
    /// - Throws: a temporary error if the keys are not available. It says nothing about the token.
    private func fetchedKeys(_ url: String, within deadline: Duration) async throws(AccountError) -> JSONWebKeySet {
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
            message: "no keys for checking \(title)'s ID tokens could be read from \(presentable(url)): \(why); "
                + "try again later",
            status: status)
    }
}
