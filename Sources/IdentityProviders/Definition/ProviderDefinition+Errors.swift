// SPDX-License-Identifier: Apache-2.0
import RainAccount
import RainJSON

extension ProviderDefinition {
    /// What the first of the definition's own rules that fits makes of a refusal; nil where none does.
    func error(for refusal: EndpointRefusal, _ grant: GrantName?) -> AccountError? {
        for rule in errors ?? [] where rule.fits(refusal, grant) {
            guard let code = AccountError.Code(reason: rule.reason) else { continue }
            return refusal.error(code, message: rule.message, cause: rule.error)
        }
        return nil
    }
}

extension ProviderDefinition.ErrorRule {
    fileprivate func fits(_ refusal: EndpointRefusal, _ grant: GrantName?) -> Bool {
        // A rule for answers without a body is for nothing else, and an unreadable one fits none.
        guard empty == true ? refusal.isEmpty : refusal.json != nil else { return false }
        if let wanted = self.grant, wanted != grant?.rawValue { return false }
        if let status, status != refusal.status { return false }
        if let says, refusal.words?.contains(says) != true { return false }
        guard let error else { return true }
        return refusal.json?.text(at: at ?? "error") == error
    }
}
