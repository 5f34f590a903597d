// SPDX-License-Identifier: Apache-2.0
import RainPrivateFiles

extension PrivateDocumentError {
    /// Returns a message with the unusable file, the reason and the remedy. A file that the system failed to read need not be given up, so
    /// the message does not suggest it.
    /// - Parameters:
    ///   - what: the file's purpose, as the subject of the sentence.
    ///   - remedy: what to do after moving the file away.
    func sentence(_ what: String, afterMoving remedy: String) -> String {
        if cause is PrivateFileError { return "\(what) cannot be used: \(cause)" }
        if isNewer { return "\(what) cannot be used: \(path): \(cause); update this program" }
        return "\(what) is damaged: \(path) (\(cause)); fix that file, or move it away and \(remedy)"
    }
}
