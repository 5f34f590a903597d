// SPDX-License-Identifier: Apache-2.0
import RainAccount
import RainCore
import RainCrypto
import RainJSON

extension ConfiguredProvider {
    /// Checks who signed an id token (OpenID Connect Core 1.0, section 3.1.3.7, rules 6 to 8).
    /// - Throws: `untrustedAnswer`, saying what is wrong; what fetching the provider's keys throws.
    func checkSignature(_ receipt: IdentityTokenReceipt) async throws(AccountError) {
        let registered = definition.client?.identityTokenAlgorithm.flatMap(text)
        let keysURL = try await findEndpoint("keys")
        guard keysURL != nil || registered != nil || !receipt.isDirect else {
            // Where the provider publishes no keys, TLS stands in for the signature (rule 6).
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
                "is signed with \(presentable(signature.algorithm)), and \(registered) is registered (alg)")
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
            // Good tokens, of a kind that is not calculated here: again TLS stands in.
            return
        }
        guard let keysURL else {
            guard receipt.isDirect else {
                throw .untrusted("came through the browser, and \(title) publishes no keys to check its signature by")
            }
            return
        }
        try await check(signature, scheme, by: keysURL, isRenewal: receipt.renewing != nil)
    }

    /// HMAC with the client's secret as key (OpenID Connect Core 1.0, section 10.1): never with a published key's bytes, which anybody
    /// could sign with. Clients without a secret get no such tokens.
    private static let sharedSecret = "HS256"

    private func checkSharedSecret(_ signature: JSONWebSignature) throws(AccountError) {
        guard let secret = settings.clientSecret else {
            throw AccountError(
                .missingParameter, message: "\(title) signs id tokens with the client's secret, which was not given",
                remedies: [.clientSecret])
        }
        let own = KeyedHash(key: secret, hashes: tools.hashes)(signature.message)
        guard equalInConstantTime(own, signature.signature) else { throw Self.wrongSignature }
    }

    /// Whether the provider says that it signs so (`id_token_signing_alg_values_supported`), by a key of its own.
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
            // The refresh token is spent by now: the tokens that came for it over TLS are not thrown away for want of another document,
            // and whoever ends this process waits for a few seconds only.
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
            "is signed with \(presentable(algorithm)), which is not checked here (alg)",
            "have the client registered for one of \(known) (id_token_signed_response_alg)")
    }
}
