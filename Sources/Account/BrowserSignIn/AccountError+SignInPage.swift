// SPDX-License-Identifier: Apache-2.0

extension AccountError {
    /// A refusal that came back from the sign-in page.
    init(signIn error: OAuthError) {
        let name = presentable(error.code.rawValue)
        // A redirect has no status for the error (RFC 6749, 4.1.2.1). It means a bad request, so 400 stands in.
        let code: Code = error.code == .abandoned ? .abandoned : Code(error.code, status: 400)
        let message =
            switch code {
            case .accessDenied: "the sign-in was refused at the sign-in page"
            case .abandoned: "nobody signed in at the sign-in page: it was left without an answer"
            case .serverFault: "the sign-in page has a fault of its own; try again later"
            case .clientRefused: "the sign-in page does not serve this client, or not for what it asks for (\(name))"
            case .invalidConfiguration: "the sign-in page does not serve such a request (\(name))"
            default: "the sign-in page refused the request (\(name))"
            }
        self.init(code, message: message, serverMessage: error.description.map(presentable))
        serverCause = name
    }
}

extension OAuthError.Code {
    /// RainKit's own, for a page that sent the person back with neither a code nor an error.
    static let abandoned = OAuthError.Code(rawValue: "abandoned")
}
