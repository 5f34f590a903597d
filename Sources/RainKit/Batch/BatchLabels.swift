// SPDX-License-Identifier: Apache-2.0
import ESPProvisioning
import Protocomm
import RainCore
import RainQRCode

/// Sheets of QR labels for the boards of a batch: a page that prints on A4.
///
/// The codes have the boards' proofs of possession, so keep the page as secret as the file.
public struct BatchLabels: Sendable {
    /// How many labels are on a sheet.
    public struct Layout: Sendable, Equatable {
        /// The labels beside each other on a sheet.
        public let columns: Int
        /// The labels below each other on a sheet.
        public let rows: Int
        /// The printed width of a code with its border, in millimetres. It leaves room for two lines of text.
        let side: Double

        /// - Parameters:
        ///   - columns: 1 to 8.
        ///   - rows: 1 to 12.
        /// - Throws: `RainKitError` (`usage`) for other numbers. More labels would be too small for a camera.
        public init(columns: Int = 4, rows: Int = 8) throws(RainKitError) {
            guard (1...8).contains(columns), (1...12).contains(rows) else {
                throw .usage("A sheet of labels has 1 to 8 columns and 1 to 12 rows.")
            }
            self.columns = columns
            self.rows = rows
            side = min(
                80, BatchLabels.width / Double(columns) - 2, BatchLabels.height / Double(rows) - BatchLabels.text)
        }
    }

    /// One label.
    struct Label: Sendable {
        var name: String
        var node: String?
        /// The content of the code. It has the proof of possession.
        var code: Secret
    }

    /// The lines of the file for which no label can be made: neither a QR code nor a name with a transport is in them.
    public let linesWithoutLabel: [Int]
    let labels: [Label]
    private let layout: Layout

    /// - Parameters:
    ///   - entries: the boards of the file, such as ``BatchFile/entries``.
    ///   - boards: the boards of the ledger, whose node ids are printed. They belong to an entry by their line.
    public init(_ entries: [BatchEntry], boards: [LedgerBoard] = [], layout: Layout) {
        let nodes = Dictionary(boards.map { ($0.line, $0.nodeID) }) { first, _ in first }
        var (labels, without): ([Label], [Int]) = ([], [])
        for entry in entries {
            if let code = Self.code(of: entry) {
                labels.append(Label(name: entry.name, node: nodes[entry.line] ?? nil, code: code))
            } else {
                without.append(entry.line)
            }
        }
        self.labels = labels
        linesWithoutLabel = without
        self.layout = layout
    }

    /// Returns the text of a board's code: the data of its own label, with the proof of possession of its line.
    private static func code(of entry: BatchEntry) -> Secret? {
        guard let name = entry.label else { return nil }
        let transport = entry.code?.transport ?? QRPayload.Transport(rawValue: entry.address.scheme)
        // Without a transport the label would not tell how to reach the board. Boards on a cable are also reached over Bluetooth.
        guard let transport = transport ?? (entry.code == nil ? nil : .ble) else { return nil }
        return try? QRPayload.text(name: name, proof: entry.proof, transport: transport, username: entry.username)
    }

    /// Returns the page: a sheet after another, without scripts. Throws if libqrencode is not installed.
    public func html() throws(QRCodeError) -> String {
        var sheets: [String] = []
        let size = layout.columns * layout.rows
        for start in stride(from: 0, to: labels.count, by: size) {
            var items: [String] = []
            for label in labels[start..<min(start + size, labels.count)] { items.append(try item(label)) }
            sheets.append("<ul class=\"sheet\">\n\(items.joined(separator: "\n"))\n</ul>")
        }
        return HTMLPage.text(
            title: "QR labels", style: style,
            body: "<main>\n<h1>QR labels</h1>\n\(sheets.joined(separator: "\n"))\n</main>")
    }

    private func item(_ label: Label) throws(QRCodeError) -> String {
        let matrix = try QRMatrix(label.code.revealBytes())
        // The declaration of XML is for a file of its own.
        let drawing = matrix.svg(side: layout.side).split(separator: "\n").dropFirst().joined()
        let node = label.node.map { "<span>\(HTMLPage.escaped($0))</span>" } ?? ""
        return "<li>\(drawing)<span>\(HTMLPage.escaped(label.name))</span>\(node)</li>"
    }

    /// The printed area of A4 with margins of 10 mm, and the height of the text below a code, in millimetres.
    fileprivate static let width = 190.0
    fileprivate static let height = 276.0
    fileprivate static let text = 8.0

    private var style: String {
        """
        @page { size: A4; margin: 10mm; }
        body { margin: 0; color: #000; background: #fff; font: 2.6mm/1.2 sans-serif; }
        h1 { position: absolute; width: 1px; height: 1px; margin: 0; overflow: hidden; clip-path: inset(50%); }
        .sheet { display: grid; grid-template-columns: repeat(\(layout.columns), 1fr); grid-template-rows: repeat(\(layout.rows), 1fr);
          width: \(Int(Self.width))mm; height: \(Int(Self.height))mm; margin: 0; padding: 0; break-after: page; list-style: none; }
        .sheet:last-child { break-after: auto; }
        li { display: flex; flex-direction: column; align-items: center; overflow: hidden; break-inside: avoid; }
        svg { display: block; flex: none; }
        span { max-width: 96%; overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
        """
    }
}
