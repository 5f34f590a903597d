// SPDX-License-Identifier: Apache-2.0

/// How often a word occurs in a text, without overlaps. The search compares bytes, because fuzzed pages are searched ten thousand times and
/// the standard library compares characters.
public func occurrences(of word: String, in text: String) -> Int {
    let (word, text) = (Array(word.utf8), Array(text.utf8))
    guard let first = word.first else { return 0 }
    var (count, index) = (0, 0)
    while index + word.count <= text.count {
        if text[index] == first, text[index..<index + word.count].elementsEqual(word) {
            count += 1
            index += word.count
        } else {
            index += 1
        }
    }
    return count
}

/// The bytes that are wanted, as text. Here, because this is compiled with optimization, and the tests themselves are not.
public func text(of bytes: [UInt8], where isWanted: (UInt8) -> Bool) -> String {
    String(decoding: bytes.filter(isWanted), as: UTF8.self)
}

/// A to Z as a to z, and nothing else changed.
public func lowercasedASCII(_ text: String) -> String {
    String(decoding: text.utf8.lazy.map { (0x41...0x5A).contains($0) ? $0 | 0x20 : $0 }, as: UTF8.self)
}
