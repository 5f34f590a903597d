// SPDX-License-Identifier: Apache-2.0
import RainAccount
import RainJSON

/// The address of one request: https (plain http to this machine only), its host written out, with placeholders in path and query.
struct URLTemplate: Sendable, Equatable {
    private static let maximumLength = 2048
    /// The longest id that is put into an address. Ids come from boards and servers.
    private static let maximumValue = 1024

    let authority: String
    private let content: PlaceholderText

    var placeholders: [MappingPlaceholder] { content.placeholders }

    init(_ text: String, member: String) throws(MappingDescriptionProblem) {
        let problem = { (sentence: String) in MappingDescriptionProblem(member: member, sentence: sentence) }
        guard text.utf8.count <= Self.maximumLength else { throw problem("it is too long") }
        do throws(PlaceholderText.Unknown) {
            content = try PlaceholderText(text)
        } catch {
            throw problem("there is no placeholder {\(error.name)}")
        }
        for placeholder in content.placeholders where !placeholder.mayStandInURL {
            throw problem(
                "{\(placeholder.rawValue)} may not stand in an address, which servers log: put it in the body")
        }
        if !content.placeholders.isEmpty {
            guard case .literal(let first)? = content.parts.first, first.count(where: { $0 == "/" }) >= 3 else {
                throw problem("the host must be written out, with a / behind it")
            }
        }
        let sample = content.text { _ in "x" }
        let pieces = sample.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        do throws(AccountError) {
            authority = try ServiceURL(String(pieces[0])).authority
        } catch {
            throw problem(error.message)
        }
        guard !Self.hasDotSegment(sample) else { throw problem("its path has a segment . or ..") }
        guard pieces.count == 1 || pieces[1].utf8.allSatisfy(Self.isQueryCharacter) else {
            throw problem("its query has a character that must be percent-encoded")
        }
    }

    /// - Throws: `invalidInput` for a value that would make another address of it.
    func filled(with values: MappingValues) throws(AccountError) -> String {
        let url = try content.text { placeholder throws(AccountError) in
            let text = values[placeholder]?.placeholderText ?? ""
            guard (1...Self.maximumValue).contains(text.utf8.count) else {
                throw AccountError(
                    .invalidInput, message: "the \(placeholder.rawValue) is empty or too long to stand in an address")
            }
            return percentEncoded(text)
        }
        guard !Self.hasDotSegment(url) else {
            throw AccountError(
                .invalidInput, message: "one of \(names) is . or .., which would be another address at \(authority)")
        }
        return url
    }

    private var names: String { placeholders.map(\.rawValue).joined(separator: ", ") }

    /// HTTP clients take such segments out of a path, and with them the one before.
    private static func hasDotSegment(_ url: String) -> Bool {
        url.prefix { $0 != "?" }.split(separator: "/").contains { $0 == "." || $0 == ".." }
    }

    private static func isQueryCharacter(_ byte: UInt8) -> Bool {
        (0x30...0x39).contains(byte) || (0x61...0x7A).contains(byte | 0x20)
            || "-._~!$&'()*+,;=:@/?%".utf8.contains(byte)
    }
}
