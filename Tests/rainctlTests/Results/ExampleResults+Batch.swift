// SPDX-License-Identifier: Apache-2.0
@testable import RainKit

@testable import rainctl

extension ExampleResults {
    static let batch: [any CommandResult] = [
        BatchReportResult(
            BatchReport(
                wholeBatch, boards: [doneBoard, failedBoard, waitingBoard], at: UnixTime(seconds: 1_700_000_900))),
        BatchReportResult(BatchReport(wholeBatch, boards: [], at: UnixTime(seconds: 1_700_000_900))),
        BatchResult(
            wholeBatch, BatchCounts(waiting: 1, running: 1, done: 1, failed: 1, abandoned: 1),
            boards: [doneBoard, failedBoard, waitingBoard, runningBoard]),
        BatchResult(
            Batch(
                id: 8, file: "", sha256: "", deployment: "", user: "", created: UnixTime(seconds: 1_700_000_000)),
            BatchCounts(), boards: []),
        BatchListResult([(wholeBatch, BatchCounts(waiting: 1, done: 2, failed: 1))]),
        BatchFilesResult(batch: 7, files: ["report.html"]),
    ]

    private static let runningBoard: LedgerBoard = {
        var board = LedgerBoard(
            id: 4, batch: 7, line: 5, name: "PROV_4", address: "ble:PROV_4", state: .running, attempt: 1)
        (board.station, board.step, board.stepState) = ("bench-1", "connect", .started)
        board.nodeID = "N4"
        return board
    }()

    private static let wholeBatch = Batch(
        id: 7, file: "/home/me/boards.csv", sha256: "ab12", deployment: "global", user: "u1",
        created: UnixTime(seconds: 1_700_000_000))

    private static var doneBoard: LedgerBoard {
        var board = LedgerBoard(
            id: 1, batch: 7, line: 2, name: "Bench 1", address: "serial:/dev/ttyUSB0", state: .done, attempt: 1)
        board.station = "bench"
        board.nodeID = "N1"
        board.mac = "7cdfa1000042"
        (board.step, board.stepState) = ("confirm", .finished)
        (board.started, board.ended) = (UnixTime(seconds: 1_700_000_100), UnixTime(seconds: 1_700_000_112.5))
        return board
    }

    private static var failedBoard: LedgerBoard {
        var board = LedgerBoard(
            id: 2, batch: 7, line: 3, name: "PROV_2", address: "ble:PROV_2", state: .failed, attempt: 2)
        board.failure = LedgerFailure(
            code: 11, reason: "wifi_auth_failed", message: "The access point refused the board.",
            remedy: "Check the password.")
        return board
    }

    private static var waitingBoard: LedgerBoard {
        LedgerBoard(id: 3, batch: 7, line: 4, name: "PROV_3", address: "ble:PROV_3")
    }
}
