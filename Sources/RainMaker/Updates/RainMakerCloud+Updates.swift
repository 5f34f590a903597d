// SPDX-License-Identifier: Apache-2.0
import RainAccount
import RainHTTP
import RainJSON

extension RainMakerCloud {
    /// The largest image that the cloud takes, in bytes.
    public static let maximumImage = 5 << 20

    /// Uploads an image, and returns the address from which nodes get it.
    ///
    /// Throws `insecureURL` for an answer with an address that boards must not run firmware from: `http:`, `file:`, or no URL at all.
    ///
    /// - Parameters:
    ///   - name: of the file, 1 to 256 characters.
    ///   - progress: is told how many bytes of the image have been sent.
    public func uploadImage(
        _ bytes: [UInt8], name: String, progress: @escaping @Sendable (_ sentBytes: Int) -> Void = { _ in }
    ) async throws(AccountError) -> String {
        guard bytes.count <= Self.maximumImage else {
            throw AccountError(
                .invalidInput, message: "the image has \(bytes.count) bytes, and the cloud takes \(Self.maximumImage)")
        }
        var call = RainMakerCall(
            .post, "user/otaimage",
            body: [
                "image_name": .string(name),
                "base64_fwimage": .string(String(decoding: Base64.encoded(bytes), as: UTF8.self)),
            ])
        call.deadline = Self.uploadDeadline
        let size = bytes.count
        // Four characters for three bytes, with little around them.
        call.uploadProgress = { progress(min(size, $0 / 4 * 3)) }
        let reply: JSONValue
        do throws(AccountError) {
            reply = try await self.call(call)
        } catch {
            throw error.status == Self.contentTooLarge ? Self.tooLarge(size) : error
        }
        guard let url = reply["image_url"]?.string, !url.isEmpty else { throw incomplete("image_url", in: reply) }
        guard isForBoards(url) else {
            let start = presentable(String(url.prefix { $0 != "/" }.prefix(20)))
            throw AccountError(
                .insecureURL,
                message: "\(deployment.base.authority) gave the image an address that is not an https URL "
                    + "(it begins with \"\(start)\"); boards run what they get from there, so it was not sent to the board"
            )
        }
        return url
    }

    /// The longest address that is sent to boards, in bytes.
    private static let longestAddress = 2048

    /// Whether boards may get firmware from there: by https. Plain http is for a cloud that runs on this machine.
    private func isForBoards(_ url: String) -> Bool {
        let scheme = url.prefix { $0 != ":" }
        let rest = url.dropFirst(scheme.count)
        let authority = rest.dropFirst(3).prefix { !"/?#".contains($0) }
        let isLocal = deployment.base.text.hasPrefix("http://")
        return url.utf8.count <= Self.longestAddress && rest.hasPrefix("://")
            && url.utf8.allSatisfy { (0x21...0x7E).contains($0) && !#"#\"<>^`{|}"#.utf8.contains($0) }
            && (scheme.lowercased() == "https" || scheme.lowercased() == "http" && isLocal)
            // Refuses a user name, and plain http to other machines.
            && (try? ServiceURL("\(scheme)://\(authority)")) != nil
    }

    /// RFC 9110, section 15.5.14. What stands before the cloud says so in any form, and nothing but a smaller image helps.
    private static let contentTooLarge = 413

    private static func tooLarge(_ size: Int) -> AccountError {
        AccountError(
            .rejected,
            message:
                "the image of \(size) bytes is larger than the server takes (HTTP \(contentTooLarge)): build a smaller one",
            status: contentTooLarge)
    }

    /// Megabytes over a slow uplink.
    private static let uploadDeadline = Duration.seconds(300)
}
