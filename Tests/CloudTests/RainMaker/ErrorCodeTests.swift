// SPDX-License-Identifier: Apache-2.0
import IdentityProviders
import RainAccount
import RainCore
import RainHTTP
import RainKitTesting
import RainMaker
import TestSupport
import Testing

/// The table of the cloud's interface description, number by number, with the apps' meanings. It was written from the description, not from
/// our code, so a number that loses its meaning shows here.
@Suite("The RainMaker cloud's error codes")
struct ErrorCodeTests {
    static let table: [(numbers: ClosedRange<Int>, code: AccountError.Code)] = [
        (403...403, .forbidden),
        (100_001...100_001, .serverFault), (100_002...100_003, .unsupported), (100_004...100_004, .forbidden),
        (100_006...100_007, .rejected), (100_008...100_008, .serverFault), (100_009...100_009, .rejected),
        (100_010...100_010, .unknownNode), (100_012...100_012, .rejected), (100_015...100_015, .unknownNode),
        (100_021...100_021, .rejected), (100_023...100_023, .rejected), (100_036...100_036, .invalidInput),
        (100_046...100_047, .expired),
        (100_052...100_052, .unsupported), (100_068...100_068, .codeExpired), (100_070...100_070, .rateLimited),
        (101_001...101_002, .invalidUserName), (101_003...101_003, .invalidInput), (101_004...101_004, .weakPassword),
        (101_005...101_005, .serverFault), (101_006...101_006, .accountExists),
        (101_007...101_007, .invalidCredentials), (101_008...101_008, .serverFault),
        (101_009...101_009, .invalidCredentials), (101_011...101_011, .alreadyVerified),
        (101_012...101_012, .wrongCode), (101_013...101_013, .serverFault), (101_015...101_015, .unverifiedUser),
        (101_016...101_016, .signInFailed), (101_017...101_017, .expired), (101_018...101_018, .invalidInput),
        (101_019...101_019, .rateLimited), (101_020...101_020, .rejected), (101_025...101_025, .unknownUser),
        (101_026...101_029, .rejected), (101_030...101_030, .invalidInput), (101_031...101_031, .rejected),
        (101_032...101_032, .invalidInput), (101_036...101_036, .rejected), (101_037...101_037, .invalidPhoneNumber),
        (101_039...101_039, .challengeExpired), (101_044...101_044, .expired), (101_045...101_045, .invalidInput),
        (101_046...101_046, .unsupported), (101_047...101_048, .unverifiedPhoneNumber), (101_049...101_050, .rejected),
        (101_051...101_051, .alreadyVerified), (101_052...101_052, .wrongCode),
        (101_053...101_053, .invalidName), (101_055...101_055, .serverFault), (101_056...101_056, .phoneNumberInUse),
        (101_057...101_057, .limitReached), (101_058...101_058, .passwordResetRequired),
        (101_066...101_066, .rejected), (101_087...101_087, .notForGuests),
        (101_097...101_097, .invalidUserName),
        (102_002...102_002, .rejected), (102_006...102_006, .unknownNode), (103_002...103_002, .unknownNode),
        (103_003...103_012, .mappingRefused), (103_013...103_013, .unknownNode),
        (103_016...103_018, .mappingRefused), (103_020...103_020, .unknownNode), (103_055...103_055, .unknownNode),
        (103_029...103_029, .mappingRefused),
        (103_031...103_031, .mappingRefused), (103_033...103_035, .mappingRefused), (105_046...105_046, .invalidTag),
        (107_032...107_032, .mappingRefused), (107_085...107_085, .forbidden),
        (109_001...109_001, .serverFault), (109_003...109_004, .serverFault),
        (112_048...112_048, .invalidLocale),
        (119_001...119_004, .rejected), (119_005...119_005, .wrongCode), (119_006...119_006, .unknownUser),
        (119_007...119_007, .invalidInput), (119_008...119_009, .rejected), (119_014...119_014, .serverFault),
        (119_015...119_015, .codeExpired), (119_016...119_016, .limitReached), (119_017...119_017, .forbidden),
        (119_018...119_022, .rejected),
    ]
    static let numbers = table.flatMap { row in row.numbers.map { (number: $0, code: row.code) } }

    /// - Parameter saysNoSuchCall: whether the call is then sent by its first name too.
    private static func error(
        status: Int, _ body: String, saysNoSuchCall: Bool = false
    ) async throws -> AccountError {
        let bench = try Bench()
        bench.http.expect(.post, "/v1/user2", status: status, body)
        if saysNoSuchCall { bench.http.expect(.post, "/v1/user", status: status, body) }
        let error = await accountError { () throws(AccountError) in
            try await bench.account.confirmSignUp("dev@example.com", code: Secret("123456"))
        }
        try bench.http.finish()
        return try #require(error)
    }

    @Test("every number of the table has its cause, whatever the HTTP status, and keeps the cloud's message")
    func everyNumber() async throws {
        #expect(Self.numbers.count > 100)
        var sentences: [AccountError.Code: Set<String>] = [:]
        for (number, code) in Self.numbers {
            for (status, digits) in [
                (400, "\(number)"), (500, "\"\(number)\""), (200, "\(number)"), (404, "\"\(number)\""),
            ] {
                let body = #"{"status":"failure","error_code":\#(digits),"description":"words of \#(number)"}"#
                let error = try await Self.error(status: status, body, saysNoSuchCall: number == 100_003)
                #expect(error.code == code, "\(number) with HTTP \(status)")
                #expect(error.serverCode == number)
                #expect(error.serverMessage == "words of \(number)")
                #expect(error.status == status)
                #expect(!error.message.contains("HTTP"), "\(number) has a sentence of its own")
                sentences[code, default: []].insert(error.message)
            }
        }
        // No two causes share a sentence, so that a reader can distinguish them.
        for (code, own) in sentences {
            for (other, others) in sentences where other != code {
                #expect(own.isDisjoint(with: others), "\(code) and \(other)")
            }
        }
    }

    @Test("one number has two meanings: for a tag with 400, for a sign-out with 500")
    func twoMeanings() async throws {
        let body = #"{"status":"failure","error_code":101067,"description":"w"}"#
        #expect(try await Self.error(status: 400, body).code == .invalidTag)
        let error = try await Self.error(status: 500, body)
        #expect(error.code == .serverFault && error.message.contains("could not end the session"))
        #expect(error.isTransient)
    }

    @Test("a wrong code for a telephone number, and a limit, are reported as such")
    func sentences() async throws {
        for (number, words) in [
            (101_051, "telephone number is already confirmed"), (101_052, "telephone number's code is wrong"),
            (101_057, "limit of the cloud has been reached"), (119_014, "could not delete the account now"),
            (119_015, "was not requested"),
        ] {
            let error = try await Self.error(
                status: 400, #"{"status":"failure","error_code":\#(number),"description":"w"}"#)
            #expect(error.message.contains(words), "\(error.message)")
        }
    }

    @Test("the page about accounts says the same")
    func documented() throws {
        let page = try readFile(Repository.path("docs/account.md"))
        var listed: Set<Int> = []
        for line in page.split(separator: "\n") where line.hasPrefix("| `") {
            let cells = line.split(separator: "|").map(String.init)
            let reasons = cells[0].split(separator: "`").map(String.init)
            for number in cells[2].split(whereSeparator: { !$0.isNumber }).compactMap({ Int($0) })
            where number > 100_000 {
                if number == 101_067 { continue }
                let code = Self.numbers.first { $0.number == number }?.code
                #expect(code.map { reasons.contains("\($0)") } == true, "\(number)")
                listed.insert(number)
            }
        }
        #expect(listed.count > 40)
        for (number, code) in Self.numbers where ![.rejected, .mappingRefused].contains(code) && number > 100_000 {
            #expect(listed.contains(number), "\(number) is missing")
        }
    }

    @Test(
        "an undocumented number is kept with the cloud's message",
        arguments: [0, 1, 99_999, 100_005, 101_010, 101_999, 119_010, 131_116, 199_999, 2_147_483_648, -1])
    func unknownNumber(number: Int) async throws {
        for (status, code) in [
            (400, AccountError.Code.rejected), (401, .expired), (403, .forbidden), (429, .rateLimited),
            (500, .serverFault), (200, .rejected), (404, .rejected),
        ] {
            let error = try await Self.error(
                status: status, #"{"status":"failure","error_code":\#(number),"description":"news"}"#)
            #expect(error.code == code, "HTTP \(status)")
            #expect(error.serverCode == number)
            #expect(error.serverMessage == "news")
        }
    }

    /// Listed in the description, or within a range of it, without a meaning in any public source.
    static let unexplained = [103_014, 103_015, 103_019, 105_042, 105_043, 107_038] + Array(131_001...131_115)

    @Test(
        "a number without a documented meaning is shown with the cloud's message, and the status decides",
        arguments: unexplained)
    func withoutMeaning(number: Int) async throws {
        let words = "planted\\n" + String(repeating: "w", count: 5000)
        for (status, code, sentence) in [
            (400, AccountError.Code.rejected, "refused the request (HTTP 400, error code \(number))"),
            (404, .rejected, "refused the request (HTTP 404, error code \(number))"),
            (500, .serverFault, "has an internal fault (HTTP 500, error code \(number)); try again later"),
        ] {
            for digits in ["\(number)", "\"\(number)\""] {
                let error = try await Self.error(
                    status: status, #"{"status":"failure","error_code":\#(digits),"description":"\#(words)"}"#)
                #expect(error.code == code && error.serverCode == number && error.status == status)
                #expect(error.message.hasSuffix(sentence), "\(error.message)")
                #expect(error.isTransient == (status == 500) && error.isRefusal == (status != 500))
                let own = error.serverMessage ?? ""
                #expect(own.hasPrefix("planted ww") && own.count <= 301, "\(own)")
            }
        }
    }

    @Test(
        "only a message in the cloud's own form is its refusal",
        arguments: [
            (403, #"{"message":"Forbidden"}"#, false), (404, #"{"message":"Not Found"}"#, false),
            (408, #"{"error":"timeout"}"#, false), (400, #"{"message":"w"}"#, false),
            (400, #"{"status":"failure","description":"Platform is invalid"}"#, true),
            (403, #"{"status":"failure","description":"w"}"#, true),
            (403, #"{"status":"failure","error_code":100004,"description":"w"}"#, true),
            (400, #"{"error_code":"100015"}"#, true),
        ])
    func gateway(status: Int, body: String, isRefusal: Bool) async throws {
        let error = try await Self.error(status: status, body, saysNoSuchCall: status == 404)
        #expect(error.isRefusal == isRefusal)
        #expect(error.isFromGateway != isRefusal)
        #expect(error.message.contains("on the way") != isRefusal)
        #expect(!error.isTransient)
    }

    @Test(
        "a failure in another form keeps its message",
        arguments: [
            (400, #"{"message":"w"}"#), (400, #"{"error":"w"}"#), (400, #"{"error":"e","error_description":"w"}"#),
            (400, #"{"status":"failure","description":"w"}"#), (200, #"{"status":"failure","description":"w"}"#),
            (400, #"{"status":"failure","error_code":"not a number","description":"w"}"#),
            (400, #"{"status":"failure","error_code":null,"description":"w"}"#),
            (400, #"{"status":"failure","error_code":1.5,"description":"w"}"#),
        ])
    func otherShapes(status: Int, body: String) async throws {
        let error = try await Self.error(status: status, body)
        #expect(error.code == .rejected)
        #expect(error.serverCode == nil)
        #expect(error.serverMessage == "w")
    }
}
