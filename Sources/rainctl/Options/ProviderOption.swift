import ArgumentParser

/// Whose session a command is about.
struct ProviderOption: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "The identity provider, if not RainMaker (see: rainctl account providers).", valueName: "name"))
    var provider: String?
}
