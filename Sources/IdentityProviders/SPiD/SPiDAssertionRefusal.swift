// SPDX-License-Identifier: Apache-2.0
import RainAccount
import RainCore

/// What SPiD means by a refusal of an assertion. It has the same name as the refusal of a code, `invalid_grant`; only the words differ.
struct SPiDAssertionRefusal {
    /// What the assertion was made of; nil for an assertion that was given.
    var token: ThirdPartyToken?
    var host: String

    /// The error for the assertion. Errors that are not about it stay as they are.
    func error(_ error: AccountError) -> AccountError {
        guard [.invalidGrant, .codeExpired, .usedCode].contains(error.code) else { return error }
        let words = (error.serverMessage ?? "").lowercased()
        let subject = token.map { "the assertion made of \(presentable($0.provider))'s token" } ?? "the assertion"
        let end = token == nil ? "" : "; get a new token, and check its end and this machine's clock"
        var error = error
        if error.code == .codeExpired || words.contains("expire") {
            error.message = "\(host) does not accept \(subject): it has expired\(end)"
        } else if error.code == .usedCode {
            error.message = "\(host) does not accept \(subject): it has been used before; make a new one"
        } else if words.hasPrefix("aud") {
            error.message =
                "\(host) does not accept \(subject): it is made for another address (aud); check the base URL"
        } else if words.hasPrefix("iss") || words.contains("application") {
            let id = token.map { " \"\(presentable($0.applicationID))\"" } ?? ""
            error.message =
                "\(host) does not accept \(subject): the application\(id) in it (iss) is not registered for this client"
            if token != nil { error.remedies = [.applicationID] }
        } else if words.contains("sign") {
            error.message =
                "\(host) does not accept \(subject): it is not signed with this client's sign secret; check signSecret"
        } else if words.contains("third party") {
            error.message =
                "\(host) does not accept \(subject): the token is not valid there any more; sign in there again"
        } else {
            error.message = "\(host) does not accept \(subject); make a new one, and check the application's id"
        }
        // It was no code: the name for this is the one that SPiD gave.
        error.code = .invalidGrant
        return error
    }
}
