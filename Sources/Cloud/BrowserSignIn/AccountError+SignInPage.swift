import RainAccount
import RainOAuth

extension AccountError {
    /// A refusal that came back from the sign-in page.
    init(signIn error: OAuthError) {
        let (code, message): (Code, String) =
            switch error.code {
            case .accessDenied: (.accessDenied, "the sign-in was refused at the sign-in page")
            case .abandoned: (.abandoned, "nobody signed in at the sign-in page: it was left without an answer")
            case .serverError, .temporarilyUnavailable:
                (.serverFault, "the sign-in page has a fault of its own; try again later")
            case .unauthorizedClient:
                (.clientRefused, "the sign-in page does not serve this client, or not for what it asks for")
            case .invalidClient, .unsupportedResponseType, .invalidScope:
                (
                    .invalidConfiguration,
                    "the sign-in page does not serve this client (\(presentable(error.code.rawValue)))"
                )
            default: (.rejected, "the sign-in page refused the request (\(presentable(error.code.rawValue)))")
            }
        self.init(code, message: message, serverMessage: error.description.map(presentable))
    }
}

extension OAuthError.Code {
    /// Ours, for a page that sent the person back without saying anything.
    static let abandoned = OAuthError.Code(rawValue: "abandoned")
}
