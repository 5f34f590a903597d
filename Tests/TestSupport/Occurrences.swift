/// How often a word stands in a text, without overlaps. By bytes: fuzzed pages are searched ten thousand times, and the standard library's
/// search goes by characters.
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
