// SPDX-License-Identifier: Apache-2.0
import RainCore

/// A page that needs nothing else: no script, no other file, no network.
enum HTMLPage {
    /// - Parameters:
    ///   - title: as text; it is escaped.
    ///   - style: the content of its style sheet.
    ///   - body: the content of the page, as HTML.
    static func text(title: String, style: String, body: String) -> String {
        """
        <!DOCTYPE html>
        <html lang="en">
        <head>
        <meta charset="utf-8">
        <meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
        <meta name="viewport" content="width=device-width, initial-scale=1">
        <meta name="color-scheme" content="light dark">
        <title>\(escaped(title))</title>
        <style>
        \(style)
        </style>
        </head>
        <body>
        \(body)
        </body>
        </html>

        """
    }

    /// Returns a text as the content of an element or of a quoted attribute. Control characters become spaces, and direction marks become
    /// visible.
    static func escaped(_ text: String) -> String {
        var shown = ""
        for scalar in text.withoutControls.unicodeScalars {
            switch scalar {
            case "<": shown += "&lt;"
            case ">": shown += "&gt;"
            case "&": shown += "&amp;"
            case "\"": shown += "&quot;"
            case "'": shown += "&#39;"
            default: shown.unicodeScalars.append(scalar)
            }
        }
        return shown
    }
}
