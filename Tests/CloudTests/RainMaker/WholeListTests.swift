// SPDX-License-Identifier: Apache-2.0
import TestSupport
import RainAccount
import RainCore
import RainHTTP
import RainKitTesting
import RainMaker
import Testing

@Suite("Lists that are kept as a whole, and one group")
struct WholeListTests {
    @Test(
        "a list that is kept as a whole is limited to 16 MiB",
        arguments: ["sharing", "groups", "automations", "commands"])
    func tooLong(list: String) async throws {
        let script = try ScriptedCloud()
        let (path, member, next, start): (String, String, String, String) =
            switch list {
            case "sharing":
                (
                    "/v1/user/nodes/sharing/requests?primary_user=false&", "sharing_requests", "next_request_id",
                    "start_request_id"
                )
            case "groups": ("/v1/user/node_group?", "groups", "next_id", "start_id")
            case "automations": ("/v1/user/node_automation?", "automation_trigger_actions", "next_id", "start_id")
            default: ("/v1/user/nodes/cmd?request_id=r&", "requests", "next_id", "start_id")
            }
        // A page has at most 4 MiB; five of these have more than 16.
        let space = String(repeating: " ", count: 7 << 19)
        for page in 1...5 {
            let target = page == 1 ? String(path.dropLast()) : "\(path)\(start)=p\(page)"
            script.http.expect(.get, target, "{\"\(member)\":[],\"\(next)\":\"p\(page + 1)\"}\(space)")
        }
        let error = await accountError { () throws(AccountError) in
            switch list {
            case "sharing": _ = try await script.cloud.sharingRequests(.nodes, sent: false)
            case "groups": _ = try await script.cloud.groups()
            case "automations": _ = try await script.cloud.automations()
            default: _ = try await script.cloud.commandRecords(RequestID("r"))
            }
        }
        #expect(error?.code == .malformedAnswer)
        #expect(error?.message.contains("too long") == true, "\(error?.message ?? "")")
        try script.http.finish()
    }

    @Test("a group that the answer lacks does not belong to the user, and a page is not an answer")
    func absentGroup() async throws {
        let script = try ScriptedCloud()
        for (body, code) in [
            (#"{"groups":[]}"#, AccountError.Code.rejected), (#"{"groups":[{"group_id":"h"}]}"#, .rejected),
            ("{}", .rejected), ("<html></html>", .malformedAnswer),
        ] {
            script.http.expect(.get, "/v1/user/node_group?group_id=g&node_list=true&sub_groups=true", body)
            let error = await accountError { () throws(AccountError) in try await script.cloud.group("g") }
            #expect(error?.code == code, "\(body)")
        }
        try script.http.finish()
    }
}
