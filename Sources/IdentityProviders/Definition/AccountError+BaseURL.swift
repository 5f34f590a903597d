// SPDX-License-Identifier: Apache-2.0
import RainAccount
import RainCore

extension AccountError {
    /// A refusal of a sign-in's call, by a server that has nothing at its address: the base URL is wrong. Other errors stay as they are.
    func nothingThere(of title: String, at host: String) -> AccountError {
        guard code == .rejected, let status, [404, 405, 410, 501].contains(status) else { return self }
        var error = self
        error.code = .invalidConfiguration
        error.message = "nothing of \(title) is at this base URL (\(host), HTTP \(status))"
        error.remedies = [.baseURL]
        return error
    }
}
