/// What the browser shows at the end: plain pages, complete in themselves, that load nothing and are not kept.
struct CallbackPage: Equatable {
    var status: Int
    private var reason: String
    private var title: String
    private var text: String

    private init(_ status: Int, _ reason: String, _ title: String, _ text: String) {
        self.status = status
        self.reason = reason
        self.title = title
        self.text = text
    }

    static let received = CallbackPage(
        200, "OK", "Almost done", "The sign-in page has answered. Close this page and go back to the terminal.")
    static let notSignedIn = CallbackPage(
        200, "OK", "Not signed in", "The sign-in was refused or given up. Close this page and go back to the terminal.")
    static let stray = CallbackPage(
        400, "Bad Request", "Not the awaited answer",
        "This is no answer to the sign-in that is under way, which goes on waiting. Go back to the page where you began."
    )
    static let late = CallbackPage(
        409, "Conflict", "Answered already",
        "This sign-in has had its answer. Close this page and go back to the terminal.")
    static let notFound = CallbackPage(404, "Not Found", "Nothing here", "There is nothing at this address.")

    /// Why a request was not looked at.
    static func refusal(_ status: Int) -> CallbackPage {
        switch status {
        case 405: CallbackPage(405, "Method Not Allowed", "Not served", "Only GET is served here.")
        case 413: CallbackPage(413, "Content Too Large", "Not served", "A request has no body here.")
        case 421: CallbackPage(421, "Misdirected Request", "Not served", "This server has another name.")
        case 431: CallbackPage(431, "Request Header Fields Too Large", "Not served", "The request is too long.")
        default: CallbackPage(400, "Bad Request", "Not served", "The request is not readable.")
        }
    }

    var response: [UInt8] {
        let body = """
            <!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>\(title)</title>\
            <meta name="viewport" content="width=device-width"></head>\
            <body><h1>\(title)</h1><p>\(text)</p></body></html>

            """
        let head = [
            "HTTP/1.1 \(status) \(reason)", "Content-Type: text/html; charset=utf-8",
            "Content-Length: \(body.utf8.count)", "Connection: close", "Cache-Control: no-store",
            // The address has the code in it: it goes nowhere from here.
            "Referrer-Policy: no-referrer", "Content-Security-Policy: default-src 'none'; frame-ancestors 'none'",
            "X-Content-Type-Options: nosniff",
        ]
        return Array((head.joined(separator: "\r\n") + "\r\n\r\n" + body).utf8)
    }
}
