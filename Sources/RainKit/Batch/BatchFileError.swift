// SPDX-License-Identifier: Apache-2.0
import RainCore

/// A file of boards cannot be used. It has all faults of the file, so that a person repairs them in one go.
///
/// No message quotes a value of the file, because a value in the wrong column may be a secret.
public struct BatchFileError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The kind of a fault, as RainKit's reasons name it (`docs/reasons.md`).
    public enum Reason: String, Sendable, CaseIterable {
        /// A value, a line or the whole file cannot be read.
        case unusable = "bad_batch_file"
        /// Two lines name the same board.
        case duplicateBoard = "duplicate_board"
        /// A column or a member is not one of ``BatchFile/columns``.
        case unknownColumn = "unknown_column"
        /// A spreadsheet has changed a value: a number instead of a text, or an error such as `#NAME?`.
        case spreadsheetDamage = "spreadsheet_damage"
        /// The file has more bytes, lines, columns or bytes in a field than are allowed.
        case tooLarge = "batch_file_too_large"
    }

    /// One fault of the file.
    public struct Fault: Sendable, Equatable, CustomStringConvertible {
        /// The kind of the fault.
        public var reason: Reason
        /// The line in the file where the board's entry begins, from 1, as an editor counts. Nil if the fault is not in a line.
        public var line: Int?
        /// The row in a spreadsheet. It is less than the line if cells above it have line breaks.
        public var row: Int?
        /// The column's name. Nil if the fault is not in one column.
        public var column: String?
        /// One or two sentences: the fault, and what to do.
        public var message: String

        /// The place and the message: `Line 3, column pop: …`
        public var description: String {
            guard let line else { return message }
            let row = row == nil || row == line ? "" : " (row \(row ?? 0) of the spreadsheet)"
            return "Line \(line)\(row)\(column.map { ", column \($0)" } ?? ""): \(message)"
        }
    }

    /// How many faults are listed.
    public static let maximumFaults = 20

    /// The first faults, in the order of the lines; at least one, and at most ``maximumFaults``.
    public let faults: [Fault]
    /// How many faults the file has in all.
    public let count: Int

    init(_ faults: [Fault], count: Int) {
        self.faults = faults
        self.count = count
    }

    /// The kind of all faults; ``Reason/unusable`` if they are of several kinds.
    public var reason: Reason {
        let reasons = Set(faults.map(\.reason))
        return reasons.count == 1 ? faults[0].reason : .unusable
    }

    /// The number of faults, and a sentence for each that is listed.
    public var description: String {
        let list = faults.map(\.description).joined(separator: " ")
        if count == 1 { return list }
        return count == faults.count
            ? "The file of boards has \(count) faults. \(list)"
            : "The file of boards has \(count) faults. The first \(faults.count) are: \(list)"
    }
}

extension RainKitError {
    /// The error of a call that needs the file: `badData`, with the reason of ``BatchFileError/reason-swift.property``.
    public init(_ error: BatchFileError) {
        self.init(.request(.badData, reason: error.reason.rawValue), message: error.description)
    }
}

/// Collects the faults of a file.
struct BatchFaults {
    private var first: [BatchFileError.Fault] = []
    private(set) var count = 0

    mutating func add(
        _ reason: BatchFileError.Reason, _ place: BatchPlace?, column: String? = nil, _ message: String
    ) {
        count += 1
        guard first.count < BatchFileError.maximumFaults else { return }
        first.append(.init(reason: reason, line: place?.line, row: place?.row, column: column, message: message))
    }

    /// The error; nil without a fault.
    var error: BatchFileError? { count == 0 ? nil : BatchFileError(first, count: count) }
}

/// Where a board's entry begins.
struct BatchPlace: Sendable, Equatable {
    /// The line in the file, from 1.
    var line: Int
    /// The row in a spreadsheet, from 1.
    var row: Int
}
