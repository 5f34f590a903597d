// SPDX-License-Identifier: Apache-2.0
import RainAccount
import RainHTTPCurl

/// The address of a picture with a board's QR code.
package enum PictureAddress {
    /// Checks that the picture cannot be replaced in transit: its code decides which board gets the Wi-Fi password.
    ///
    /// Plain http is only for a board's own camera: for private and link-local addresses, names in `.local`, and this machine.
    ///
    /// - Throws: `insecureURL` for plain http from any other address, and for plain http with a user name or a password.
    package static func check(_ url: String) throws(AccountError) {
        guard !url.lowercased().hasPrefix("https://") else { return }
        // As in libcurl. For `String`, a separator and a following combining mark would be one character.
        let rest = url.unicodeScalars.drop { $0 != "/" }.dropFirst(2)
        let authority = rest.prefix { !"/?#\\".unicodeScalars.contains($0) }
        guard !authority.contains("@") else {
            throw AccountError(
                .insecureURL,
                message:
                    "the address of the picture has a user name or a password, which plain http sends unencrypted; use https://"
            )
        }
        let end = authority.first == "[" ? authority.firstIndex(of: "]").map(authority.index(after:)) : nil
        let host = String(authority[..<(end ?? authority.firstIndex(of: ":") ?? authority.endIndex)])
        guard isNearby(host) else {
            throw AccountError(
                .insecureURL,
                message:
                    "a picture from \(presentable(host)) over plain http may be replaced in transit; use https://, or download the "
                    + "picture yourself. Plain http is allowed only for boards' own addresses, such as 192.168.4.1"
            )
        }
    }
}
