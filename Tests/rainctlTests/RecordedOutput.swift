// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport
import Testing

/// Files that hold output word for word, so that a change of the output shows in review. Nobody edits them: with `RAINKIT_RECORD=1`, the
/// tests write them.
enum RecordedOutput {
    /// Whether the tests write the files instead of comparing with them.
    static let isRecording = currentEnvironment()["RAINKIT_RECORD"] == "1"

    /// The folder of the files about commands and results.
    static let folder = Repository.path("Tests/rainctlTests/Recorded")

    /// Compares text with a file, byte by byte. Writes the file when recording.
    /// - Parameter path: of the file, from the repository's root.
    static func expect(_ text: String, in path: String, sourceLocation: SourceLocation = #_sourceLocation) throws {
        let file = Repository.path(path)
        if isRecording {
            try Data(text.utf8).write(to: URL(fileURLWithPath: file))
            return
        }
        let recorded = try? readFile(file)
        // Byte by byte: two different texts can be equal as `String`s.
        if let recorded, recorded.utf8.elementsEqual(text.utf8) { return }
        let difference = recorded.map { firstDifference($0, text) } ?? "the file does not exist"
        Issue.record("\(path): \(difference)\n\(advice)", sourceLocation: sourceLocation)
    }

    /// Checks that a folder holds no files but these. Removes the others when recording.
    /// - Parameter suffix: of the files in question.
    static func expectNoOthers(
        than names: [String], suffix: String, in path: String, sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        let folder = Repository.path(path)
        let others = try FileManager.default.contentsOfDirectory(atPath: folder).filter {
            $0.hasSuffix(suffix) && !names.contains($0)
        }
        if isRecording {
            for name in others { try FileManager.default.removeItem(atPath: "\(folder)/\(name)") }
        } else if !others.isEmpty {
            Issue.record("\(path): nothing prints what \(others) hold. \(advice)", sourceLocation: sourceLocation)
        }
    }

    private static let advice = "If you want this change, run: RAINKIT_RECORD=1 swift test --filter RecordedOutput"

    private static func firstDifference(_ recorded: String, _ now: String) -> String {
        let old = recorded.utf8.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).map(Array.init)
        let new = now.utf8.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).map(Array.init)
        let index = zip(old, new).enumerated().first { $1.0 != $1.1 }?.offset ?? min(old.count, new.count)
        func line(_ lines: [[UInt8]]) -> String {
            index < lines.count ? "\"\(String(decoding: lines[index], as: UTF8.self))\"" : "the end"
        }
        return "line \(index + 1) is recorded as \(line(old)), and is now \(line(new))"
    }
}
