// SPDX-License-Identifier: Apache-2.0

/// The pages that the browser shows after the redirect: plain HTML that loads nothing else and is not cached.
struct CallbackPage: Equatable {
    var status: Int
    private var reason: String
    private var title: String
    private var text: String
    private var script = ""

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
    /// Says what is wrong, as the person may be on an old page, or led here by somebody else's.
    static func foreign(_ answer: ForeignAnswer) -> CallbackPage {
        CallbackPage(
            400, "Bad Request", "Not accepted",
            "This answer belongs to another sign-in (\(answer.flaw.message)). It was not used, and the sign-in that is under way goes on "
                + "waiting: finish it in the page that it opened, or begin again in the terminal.")
    }
    static let late = CallbackPage(
        409, "Conflict", "Answered already",
        "This sign-in has had its answer. Close this page and go back to the terminal.")
    static let notFound = CallbackPage(404, "Not Found", "Nothing here", "There is nothing at this address.")

    /// Sends the fragment to the listener by script, as no browser sends it itself, and removes it from the address bar and the history.
    /// Where scripts are off, the page says what to do instead.
    static let fragmentRelay: CallbackPage = {
        var page = CallbackPage(
            200, "OK", "One moment",
            "The answer is being handed on. If nothing happens here, copy this page's whole address and paste it into the terminal."
        )
        page.script = fragmentScript
        return page
    }()

    /// Its hash stands in the page's policy: change both together (a test compares them).
    static let fragmentScript =
        "(function(){var a=location.hash.slice(1);if(!a)return;history.replaceState(null,'',location.pathname);"
        + "fetch(location.pathname,{method:'POST',headers:{'Content-Type':'application/x-www-form-urlencoded'},body:a})"
        + ".then(function(r){return r.text()}).then(function(t){var d=new DOMParser().parseFromString(t,'text/html');"
        + "document.title=d.title;document.body.replaceWith(d.body)})})()"
    static let fragmentScriptHash = "dZWHLYFBqFDXp3oUcImIfzjdqJ453+0pO6izHtZY+A0="

    /// The page for a request that is refused before its answer is read.
    static func refusal(_ status: Int) -> CallbackPage {
        switch status {
        case 403: CallbackPage(403, "Forbidden", "Not served", "This page takes answers from its own pages only.")
        case 405: CallbackPage(405, "Method Not Allowed", "Not served", "Only GET is served here.")
        case 413: CallbackPage(413, "Content Too Large", "Not served", "A request has no body, or too long a one.")
        case 421: CallbackPage(421, "Misdirected Request", "Not served", "This server has another name.")
        case 431: CallbackPage(431, "Request Header Fields Too Large", "Not served", "The request is too long.")
        default: CallbackPage(400, "Bad Request", "Not served", "The request is not readable.")
        }
    }

    private var policyForScript: String {
        script.isEmpty ? "" : "; script-src 'sha256-\(Self.fragmentScriptHash)'; connect-src 'self'"
    }

    var response: [UInt8] {
        let body = """
            <!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>\(title)</title>\
            <meta name="viewport" content="width=device-width"></head>\
            <body><h1>\(title)</h1><p>\(text)</p>\(script.isEmpty ? "" : "<script>\(script)</script>")</body></html>

            """
        let head = [
            "HTTP/1.1 \(status) \(reason)", "Content-Type: text/html; charset=utf-8",
            "Content-Length: \(body.utf8.count)", "Connection: close", "Cache-Control: no-store",
            // The address has the code in it, so it must not be sent on as a referrer.
            "Referrer-Policy: no-referrer",
            "Content-Security-Policy: default-src 'none'; frame-ancestors 'none'\(policyForScript)",
            "X-Content-Type-Options: nosniff",
        ]
        return Array((head.joined(separator: "\r\n") + "\r\n\r\n" + body).utf8)
    }
}
