// SPDX-License-Identifier: Apache-2.0
import RainPrivateFiles

extension PrivateDocumentError {
    /// Which file is not usable, why, and the way out. Nobody is told to give up a file that the system only failed to read.
    /// - Parameters:
    ///   - what: what the file is, as the subject of the sentence.
    ///   - remedy: what to do once it was moved away.
    func sentence(_ what: String, afterMoving remedy: String) -> String {
        if cause is PrivateFileError { return "\(what) cannot be used: \(cause)" }
        if isNewer { return "\(what) cannot be used: \(path): \(cause); update this program" }
        return "\(what) is damaged: \(path) (\(cause)); fix that file, or move it away and \(remedy)"
    }
}
