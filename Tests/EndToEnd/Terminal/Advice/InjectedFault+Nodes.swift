// SPDX-License-Identifier: Apache-2.0
import TestSupport

/// What can be wrong with commands for boards in an account.
extension InjectedFault {
    static let ofNodes: [InjectedFault] = [
        node(
            "a device that the board does not have", "has no device \"Lamp\"", "params", "set", "n1",
            "Lamp.Power=on"),
        node(
            "a parameter that the device does not have", "no parameter Colour", "params", "set", "n1", "Light.Colour=on"
        ),
        node("a value of another type", "true or false", "params", "set", "n1", "Light.Power=maybe"),
        node("a value without a parameter", "DEVICE.PARAM=VALUE", "params", "set", "n1", "Light.Power"),
        node("two values for one parameter", "twice", "params", "set", "n1", "Light.Power=on", "Light.Power=off"),
        node(
            "values on the command line and in a file", "not both", "params", "set", "n1", "Light.Power=on", "--file",
            "{}/values.json"),
        node("a line end after a board's name", "line end", "status", "n9\r"),
        node(
            "typographic quotation marks around a name", "is a typographic quotation mark", "status",
            "\u{201C}n9\u{201D}"),
        node("an invisible character in a board's name", "invisible character (U+200B)", "status", "n9\u{200B}"),
        node("a name with spaces without quotation marks", "quotation marks", "remove", "Kitchen", "lamp"),
        node(
            "such a name before values", "needs quotation marks", "params", "set", "Kitchen", "lamp", "Light.Power=on"),
        node(
            "a day that is not in the calendar", "does not exist", "history", "n1", "Light.Power", "--from",
            "2026-02-30"),
        node("a name of only spaces", "blank", "params", "set", "n1", "Light.Name= "),
        node(
            "a file of values that is not JSON", "values.json is not JSON", "params", "set", "n1", "--file",
            "{}/values.json"),
        node("a missing file of values", "No such file", "params", "set", "n1", "--file", "{}/none.json"),
        node("a value that was never reported", "Lamp.Power", "params", "get", "n1", "Lamp.Power"),
        node("another user's board", "n2", "show", "n2"),
        node("an empty name", "1 to 64 bytes", "rename", "n1", ""),
        node("a schedule without a time", "--at", "schedule", "add", "n1", "--name", "x", "Light.Power=on"),
        node(
            "a time of day that does not exist", "25:00", "schedule", "add", "n1", "--name", "x", "--at", "25:00",
            "Light.Power=on"),
        node(
            "a day that does not exist", "someday", "schedule", "add", "n1", "--name", "x", "--at", "12:00", "--days",
            "someday", "Light.Power=on"),
        node(
            "a date that does not exist", "2026-02-30", "schedule", "add", "n1", "--name", "x", "--at", "12:00",
            "--date", "2026-02-30", "Light.Power=on"),
        node(
            "a date in the past", "would never act", "schedule", "add", "n1", "--name", "x", "--at", "12:00", "--date",
            "2020-02-20", "Light.Power=on"),
        node("a schedule that does not exist", "Evening", "schedule", "remove", "n1", "Evening"),
        node("a scene that does not exist", "Night", "scene", "remove", "n1", "Night"),
        node(
            "a share with an unknown user", "stranger@example.com", "share", "add", "n1", "--with",
            "stranger@example.com"),
        node(
            "a transfer without confirmation", "the owner of Light", "share", "add", "n1", "--with", FaultBench.friend,
            "--as",
            "owner"),
        node("a sharing request that does not exist", "sharing request", "share", "accept", "nosuch"),
        node("a share that does not exist", "shared with", "share", "remove", "n1", "--with", FaultBench.friend),
        node("a file that is not firmware", "not the image", "ota", "n1", "{}/hello.bin"),
        node("an empty firmware file", "is empty", "ota", "n1", "{}/empty.bin"),
        node("a URL instead of a firmware file", "is a URL", "ota", "n1", "http://127.0.0.1/app.bin"),
        node("a missing firmware file", "No such file", "ota", "n1", "{}/none.bin"),
        node("a folder instead of a firmware file", "folder", "ota", "n1", "{}"),
        node("a command that was never sent", "nosuch", "command", "result", "nosuch"),
        node("a board to watch that does not exist", "n9", "watch", "n9"),
        node("metadata without a value", "KEY=VALUE", "metadata", "set", "n1", "{a"),
        node("a tag without a value", "key:value", "tags", "add", "n1", "x"),
        home("a group that does not exist", "Garage", "group", "show", "Garage"),
        home("a group name that is too short", "2 to 256", "group", "add", "A"),
        home("a group in a parent that does not exist", "Garage", "group", "add", "Kitchen", "--parent", "Garage"),
        home("a group with boards that do not exist", "n9", "group", "add", "Kitchen", "--nodes", "n9"),
        home(
            "an invalid condition", "not a condition", "automation", "add", "x", "--of", "n1", "--when", "hello",
            "--set", "n1:Light.Power=on"),
        home(
            "a condition on a device that does not exist", "no device \"Lamp\"", "automation", "add", "x", "--of", "n1",
            "--when", "Lamp.Power=on", "--set", "n1:Light.Power=on"),
        home("a rule that does nothing", "--set", "automation", "add", "x", "--of", "n1", "--when", "Light.Power=on"),
        home(
            "an incomplete rule in a file", "no events and no actions", "automation", "add", "x", "--file",
            "{}/rule.json"),
        home("a rule that does not exist", "nosuch", "automation", "remove", "nosuch"),
        node(
            "a board's address at which nothing listens", "Nothing listens", "params", "get", "n1", "--local", "--host",
            "127.0.0.1:9"),
        node("a search on the network without Avahi", "Avahi", "params", "get", "n1", "--local"),
    ]

    private static func node(_ name: String, _ words: String, _ arguments: String...) -> InjectedFault {
        atHome("node", name, words, ["node"] + arguments)
    }

    private static func home(_ name: String, _ words: String, _ arguments: String...) -> InjectedFault {
        atHome(arguments[0], name, words, arguments)
    }

    /// A command of the bench's account, whose board is online. Nothing is changed there.
    private static func atHome(
        _ area: String, _ name: String, _ words: String, _ arguments: [String]
    ) -> InjectedFault {
        InjectedFault(area, name, words) { lab in
            try await lab.timed(
                arguments.map { $0.replacing("{}", with: lab.bench.folder.path) }, as: lab.bench.maker)
        }
    }
}
