// SPDX-License-Identifier: Apache-2.0
import ESPProvisioning
import RainAccount
import RainCore
import RainJSON
import Synchronization
import TestSupport
import Testing

@testable import RainKit

/// The bytes are those that `rainctl --events ndjson` prints.
@Suite("Documents of events")
struct EventDocumentTests {
    private final class Lines: Sendable {
        private let lines = Mutex<[String]>([])

        func take(_ event: EventDocument) {
            lines.withLock { lines in
                do { lines.append(String(decoding: try JSONCoder.encode(event), as: UTF8.self)) } catch {
                    Issue.record(error)
                }
            }
        }

        /// The lines, without the members that all of them have at their beginning.
        func ends(after begin: String) -> [String] {
            lines.withLock { $0.map { $0.hasPrefix(begin) ? String($0.dropFirst(begin.count)) : $0 } }
        }
    }

    private func writer(_ lines: Lines, step: String? = nil) -> EventDocument.Writer {
        EventDocument.Writer(
            run: "r", device: "d", step: step, now: { ("T", .milliseconds(12)) }, { lines.take($0) })
    }

    private func event(
        _ step: OnboardingStep, _ state: OnboardingEvent.State, attempt: Int = 1, node: NodeID? = nil
    ) -> OnboardingEvent {
        OnboardingEvent(step: step, state: state, attempt: attempt, elapsed: .milliseconds(1500), nodeID: node)
    }

    @Test("an event has eight members; a step that is not there is null, and a node id is absent until it is known")
    func run() {
        let lines = Lines()
        let events = writer(lines)
        events.warning(reason: "proof_not_used", message: "No.")
        events.take(event(.account, .started))
        events.name("lamp")
        events.take(event(.identify, .finished, node: NodeID("N1")))
        events.take(event(.join, .started, attempt: 2))
        events.take(event(.connect, .deferred("no network"), attempt: 2))
        events.take(event(.confirm, .failed(RainKitError(.mappingRefused(.timedOut), message: "No.")), attempt: 2))
        events.warning(reason: "other", message: "w")
        #expect(
            lines.ends(after: #"{"ts":"T","run":"r","device":""#) == [
                #"d","step":null,"state":"warning","code":"ok","attempt":1,"elapsed_ms":12,"#
                    + #""reason":"proof_not_used","detail":"No."}"#,
                #"d","step":"account","state":"started","code":"ok","attempt":1,"elapsed_ms":1500}"#,
                #"lamp","step":"identify","state":"finished","code":"ok","attempt":1,"elapsed_ms":1500,"node_id":"N1"}"#,
                #"lamp","step":"join","state":"started","code":"ok","attempt":2,"elapsed_ms":1500,"node_id":"N1"}"#,
                #"lamp","step":"connect","state":"deferred","code":"temporary","attempt":2,"elapsed_ms":1500,"#
                    + #""node_id":"N1","detail":"no network"}"#,
                #"lamp","step":"confirm","state":"failed","code":"mapping_failed","attempt":2,"elapsed_ms":1500,"#
                    + #""node_id":"N1","detail":"No."}"#,
                #"lamp","step":"confirm","state":"warning","code":"ok","attempt":2,"elapsed_ms":12,"node_id":"N1","#
                    + #""reason":"other","detail":"w"}"#,
            ])
    }

    @Test(
        "each progress has its word",
        arguments: [
            (.heard([]), "heard"), (.cannotListNetworks, "cannot_list_networks"),
            (.claimInitiated(NodeID("n")), "claim_initiated"),
            (.certificateRequested, "certificate_requested"), (.claimed(NodeID("n")), "claimed"),
            (.customData("e", answer: []), "custom_data_answered"), (.wifi(.connecting), "connecting"),
            (.wifi(.occupied), "occupied"), (.wifi(.attemptFailed(remaining: 1)), "attempt_failed"),
            (.wifi(.unreachable), "unreachable"), (.resumed(NodeID("n")), "resumed"),
            (.alreadyOnline(NodeID("n")), "already_online"),
            (.abandoned(NodeID("n"), "why"), "abandoned"), (.associationLeftOpen("why"), "association_left_open"),
            (.waitingForBoard, "waiting_for_board"), (.waitingForCloud, "waiting_for_cloud"),
            (.waitingForNode, "waiting_for_node"),
        ] as [(OnboardingProgress, String)])
    func progress(progress: OnboardingProgress, word: String) {
        let lines = Lines()
        writer(lines).take(event(.connect, .progress(progress)))
        #expect(
            lines.ends(after: #"{"ts":"T","run":"r","device":"d","step":"connect","state":"progress","#) == [
                #""code":"ok","attempt":1,"elapsed_ms":1500,"detail":"\#(word)"}"#
            ])
    }

    @Test("the last event has the members of the result or the error, and its own values take precedence")
    func ending() {
        let lines = Lines()
        let events = writer(lines)
        events.take(event(.confirm, .started, node: NodeID("N1")))
        events.done(["mapping": "confirmed"])
        events.done(["node_id": "N2"])
        var error = AccountError(.rateLimited, message: "Not now.")
        error.retryAfter = .milliseconds(1001)
        events.ended(RainKitError(error, step: .verify))
        let begin = #"{"ts":"T","run":"r","device":"d","step":"confirm","state":""#
        #expect(
            lines.ends(after: begin).dropFirst() == [
                #"done","code":"ok","attempt":1,"elapsed_ms":12,"node_id":"N1","mapping":"confirmed"}"#,
                #"done","code":"ok","attempt":1,"elapsed_ms":12,"node_id":"N1"}"#,
                #"ended","code":"temporary","attempt":1,"elapsed_ms":12,"node_id":"N1","exit":75,"#
                    + #""reason":"rate_limited","message":"Not now.","retry_after":2}"#,
            ])
    }

    @Test("the events of a sign-in name the user, and have the user's attributes if there are any")
    func signIn() throws {
        let lines = Lines()
        let events = writer(lines, step: "sign_in")
        events.note("started")
        events.failed(AccountError(.untrustedAnswer, message: "no"), as: "answer_not_accepted", detail: "Other.")
        events.take(.signedOut(.here))
        #expect(
            lines.ends(after: #"{"ts":"T","run":"r","device":"d","step":"sign_in","state":""#) == [
                #"started","code":"ok","attempt":1,"elapsed_ms":12}"#,
                #"answer_not_accepted","code":"auth","attempt":1,"elapsed_ms":12,"detail":"Other."}"#,
                #"signed_out","code":"ok","attempt":1,"elapsed_ms":12}"#,
            ])
        func details(_ attributes: [JSONValue.Member]) throws -> String {
            let details = EventDocument.Details.session(userName: "me", userID: "u1", attributes: attributes)
            return String(decoding: try JSONCoder.encode(details), as: UTF8.self)
        }
        #expect(try details([]) == #"{"user_name":"me","user_id":"u1"}"#)
        #expect(
            try details([.init("screenName", "ada")])
                == #"{"user_name":"me","user_id":"u1","attributes":{"screenName":"ada"}}"#)
    }

    @Test("an error's document has its advice in the message, and no control characters")
    func error() throws {
        var error = RainKitError(.claimNeeded, step: .claim, message: "No \u{1B}certificate.")
        #expect(
            String(decoding: try JSONCoder.encode(RainKitError.Document(error)), as: UTF8.self)
                == #"{"code":"claim_needed","exit":17,"reason":"claim_needed","message":"No  certificate. "#
                + #"Name the claim service of the deployment, or set up the Wi-Fi alone, without an account.","step":"claim"}"#
        )
        error = RainKitError(.request(.usage, reason: "usage"), message: "No.")
        #expect(
            String(decoding: try JSONCoder.encode(RainKitError.Document(error)), as: UTF8.self)
                == #"{"code":"usage","exit":64,"reason":"usage","message":"No."}"#)
    }

    @Test("a change of a node begins with the time")
    func change() throws {
        func line(_ kind: NodeChange.Kind) throws -> String {
            let change = NodeChange(node: NodeID("N1"), name: "Lamp", kind: kind)
            return String(decoding: try JSONCoder.encode(TimedDocument(change, at: "T")), as: UTF8.self)
        }
        let path = ParameterPath(component: "Light", parameter: "Power")
        #expect(try line(.connected(false)) == #"{"ts":"T","node_id":"N1","state":"offline"}"#)
        #expect(
            try line(.value(path, true, previous: false))
                == #"{"ts":"T","node_id":"N1","state":"value","path":"Light.Power","value":true,"previous":false}"#)
        #expect(
            try line(.value(path, true, previous: nil))
                == #"{"ts":"T","node_id":"N1","state":"value","path":"Light.Power","value":true}"#)
    }

    @Test("times are RFC 3339 in UTC, with milliseconds and four digits of the year")
    func time() {
        #expect(Timestamp.text(UnixTime(seconds: 0)) == "1970-01-01T00:00:00.000Z")
        #expect(Timestamp.text(UnixTime(seconds: 1e300)) == "9999-12-31T23:59:59.000Z")
        #expect(Timestamp.now.utf8.count == "1970-01-01T00:00:00.000Z".utf8.count)
    }
}
