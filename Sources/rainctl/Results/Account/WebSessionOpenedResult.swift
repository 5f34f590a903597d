/// A browser was opened at the address that signs it in.
struct WebSessionOpenedResult: CommandResult {
    let profile: String
    let opened = true

    var text: String { "" }
}
