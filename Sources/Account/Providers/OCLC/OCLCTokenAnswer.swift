import JSON
import OAuth2
import Vocabulary

/// What OCLC says besides the tokens themselves, in a token endpoint's JSON and in a redirect's fragment alike.
///
/// Names and types vary between services and years (`context_institution_id` or `contextInstitutionId`, `expires_in` a number or a
/// string); dates have a space in them, which fragments escape (`2014-01-05%2011:57:26Z`).
struct OCLCTokenAnswer {
    let response: TokenResponse

    init(_ response: TokenResponse) { self.response = response }

    var principal: OCLCPrincipal? {
        guard let id = text("principalID"), let namespace = text("principalIDNS") else { return nil }
        return OCLCPrincipal(id: id, namespace: namespace)
    }

    /// Whose data the token opens.
    var contextInstitution: String? { text("context_institution_id") ?? text("contextInstitutionId") }
    /// Who signed the user in.
    var authenticatingInstitution: String? {
        text("authenticating_institution_id") ?? text("authenticatingInstitutionId")
    }

    /// When the access token ends for somebody who received it at `received`. A lifetime says more than a date: no clock has to be
    /// right for it.
    func end(received: UnixTime) -> UnixTime? {
        response.expiresIn.map { received + $0 } ?? date("expires_at")
    }

    /// When the refresh token ends. It lives on its own: 7 days, where the access token has 20 minutes.
    func refreshEnd(received: UnixTime) -> UnixTime? {
        guard response.refreshToken != nil else { return nil }
        return seconds("refresh_token_expires_in").map { received + $0 } ?? date("refresh_token_expires_at")
    }

    // MARK: Fields

    private func value(_ name: String) -> JSONValue? { response.more.last { $0.name == name }?.value.unlessNull }

    private func text(_ name: String) -> String? {
        guard let value = value(name) else { return nil }
        let text = value.string ?? value.integer.map { "\($0)" }
        guard let text, !text.isEmpty, text.utf8.count <= 256 else { return nil }
        return text
    }

    private func seconds(_ name: String) -> Double? {
        guard let value = value(name), let seconds = value.double ?? value.string.flatMap(Double.init), seconds >= 0,
            seconds < 1e12
        else { return nil }
        return seconds
    }

    /// A copy that is still escaped, as OCLC's own sample keeps it, is unescaped here.
    private func date(_ name: String) -> UnixTime? {
        guard let text = value(name)?.string else { return nil }
        let plain = text.utf8.contains(UInt8(ascii: "%")) ? FormEncoding.decoded(text.utf8) ?? text : text
        return CivilTime(plain)?.time
    }
}
