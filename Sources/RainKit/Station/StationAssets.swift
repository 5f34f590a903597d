// SPDX-License-Identifier: Apache-2.0
import RainMicroHTTP

/// The files of a station's page. They load nothing from elsewhere.
enum StationAssets {
    /// What the page may do: run the station's own script, and talk to the station.
    static let pagePolicy =
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; form-action 'none'; "
        + "base-uri 'none'; frame-ancestors 'none'"
    /// Reports and labels have their style inside, and no scripts.
    static let documentPolicy =
        "default-src 'none'; style-src 'unsafe-inline'; form-action 'none'; base-uri 'none'; frame-ancestors 'none'"

    /// The headers of every answer.
    static func headers(_ type: String, policy: String = pagePolicy) -> [(name: String, value: String)] {
        [
            ("Content-Type", type), ("Content-Security-Policy", policy), ("Cache-Control", "no-store"),
            ("X-Content-Type-Options", "nosniff"), ("Referrer-Policy", "no-referrer"),
            ("Cross-Origin-Resource-Policy", "same-origin"), ("Cross-Origin-Opener-Policy", "same-origin"),
            ("Permissions-Policy", "camera=(self), microphone=(), geolocation=()"),
        ]
    }

    /// Returns the answer to a path; nil if it is not one of the page's files.
    static func response(to path: String) -> LocalResponse? {
        let (type, text): (String, String)
        switch path {
        case "/": (type, text) = ("text/html; charset=utf-8", StationHTML.text)
        case "/station.css": (type, text) = ("text/css; charset=utf-8", StationStyle.text)
        case "/station.js": (type, text) = ("text/javascript; charset=utf-8", StationScript.text)
        case "/icon.svg": (type, text) = ("image/svg+xml", icon)
        default: return nil
        }
        return LocalResponse(200, headers: headers(type), body: Array(text.utf8))
    }

    private static let icon = """
        <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="8" fill="#0b6b5d"/>\
        <path d="M16 6c4 5 7 8.6 7 12.4a7 7 0 0 1-14 0C9 14.6 12 11 16 6z" fill="#fff"/></svg>
        """
}
