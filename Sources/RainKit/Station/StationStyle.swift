// SPDX-License-Identifier: Apache-2.0

/// The style of a station's page. Text has a contrast of at least 4.5 to its background (WCAG 2.2, 1.4.3), in both colour schemes.
enum StationStyle {
    static let text = #"""
        :root {
          color-scheme: light dark;
          --page: #f4f6f6; --card: #ffffff; --ink: #17201f; --soft: #55605f; --line: #dbe1e0; --control: #75807f;
          --accent: #0b6b5d; --on-accent: #ffffff;
          --failed: #b3261e; --failed-back: #fdf1ef; --running: #1a5fb4; --done: #17693a; --waiting: #5c6665;
        }
        @media (prefers-color-scheme: dark) {
          :root {
            --page: #111616; --card: #1a2120; --ink: #e8eeed; --soft: #a7b3b1; --line: #303938; --control: #8b9896;
            --accent: #58c9b5; --on-accent: #06231f;
            --failed: #ffa79f; --failed-back: #2b1b1a; --running: #8ebcff; --done: #86d9a2; --waiting: #aeb9b7;
          }
        }
        * { box-sizing: border-box; }
        body { margin: 0; background: var(--page); color: var(--ink); font: 1rem/1.45 system-ui, sans-serif; }
        [hidden] { display: none !important; }
        .hidden { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }
        .skip { position: absolute; left: -100vw; padding: .5rem 1rem; background: var(--card); color: var(--accent); }
        .skip:focus { left: 1rem; top: .5rem; z-index: 1; }
        :focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; border-radius: .4rem; }
        header, main { max-width: 72rem; margin: 0 auto; padding: 0 1.25rem; }
        header { display: flex; gap: 1rem; align-items: center; justify-content: space-between; padding-top: 1.25rem; }
        h1 { margin: 0; font-size: 1.5rem; letter-spacing: -.01em; }
        h2 { margin: 1.5rem 0 .5rem; font-size: 1rem; }
        .title { min-width: 0; }
        #file { margin: 0; color: var(--soft); overflow-wrap: anywhere; }
        #connection { margin: 0; flex: none; padding: .2rem .7rem; border-radius: 1rem; border: 1px solid var(--line); background: var(--card);
          color: var(--soft); font-size: .875rem; }
        #connection::before { content: ""; display: inline-block; width: .55rem; height: .55rem; margin-right: .45rem; border-radius: 50%;
          background: var(--waiting); }
        #connection[data-state="live"]::before { background: var(--done); }
        #connection[data-state="lost"]::before { background: var(--failed); }
        .summary { margin-top: 1rem; padding: 1.1rem 1.25rem; border-radius: .9rem; background: var(--card); border: 1px solid var(--line); }
        #meter { display: flex; height: .6rem; border-radius: .3rem; overflow: hidden; background: var(--line); }
        #meter span { display: block; width: 0; transition: width .3s; }
        #meter .done { background: var(--done); } #meter .failed { background: var(--failed); } #meter .running { background: var(--running); }
        .summary dl { display: grid; grid-template-columns: repeat(4, 1fr); gap: .5rem; margin: 1rem 0 .25rem; }
        .summary dt { color: var(--soft); font-size: .875rem; }
        .summary dd { margin: 0; font-size: 1.7rem; font-weight: 650; font-variant-numeric: tabular-nums; line-height: 1.2; }
        .summary [data-state="failed"] dd { color: var(--failed); } .summary [data-state="running"] dd { color: var(--running); }
        .summary [data-state="done"] dd { color: var(--done); } .summary [data-state="waiting"] dd { color: var(--waiting); }
        #activity { margin: .25rem 0 0; color: var(--soft); }
        #notice { margin-top: .75rem; padding: .6rem .8rem; border-left: .25rem solid var(--failed); background: var(--failed-back);
          border-radius: .3rem; overflow-wrap: anywhere; }
        .tools { display: flex; flex-wrap: wrap; gap: .6rem; margin-top: 1rem; }
        button, .tools a { display: inline-block; min-height: 2.5rem; padding: .45rem .95rem; border: 1px solid var(--control); border-radius: .6rem;
          background: var(--card); color: var(--ink); font: inherit; line-height: 1.5; text-decoration: none; cursor: pointer; }
        button:hover, .tools a:hover { border-color: var(--accent); }
        button.primary { border-color: var(--accent); background: var(--accent); color: var(--on-accent); font-weight: 600; }
        button:disabled { opacity: .6; cursor: default; }
        .search { display: flex; gap: .6rem; align-items: center; margin: 1.25rem 0 0; color: var(--soft); }
        input { min-width: 0; max-width: 100%; padding: .45rem .7rem; border: 1px solid var(--control); border-radius: .6rem; background: var(--card);
          color: var(--ink); font: inherit; }
        .search input { flex: 0 1 18rem; }
        #boards:focus { outline: none; }
        ul { margin: 0; padding: 0; list-style: none; display: grid; gap: .5rem; }
        section[data-state="running"] ul, section[data-state="waiting"] ul, section[data-state="done"] ul {
          grid-template-columns: repeat(auto-fill, minmax(min(100%, 20rem), 1fr)); }
        li { padding: .65rem .9rem; border: 1px solid var(--line); border-radius: .7rem; background: var(--card); min-width: 0;
          display: grid; grid-template-columns: 1fr auto; gap: .1rem .75rem; align-items: baseline; content-visibility: auto;
          contain-intrinsic-size: auto 4rem; }
        li > * { min-width: 0; overflow-wrap: anywhere; }
        .name { font-weight: 600; }
        .place { color: var(--soft); font-size: .875rem; }
        .step, .note, .node { grid-column: 1 / -1; color: var(--soft); font-size: .9rem; margin: 0; }
        progress { grid-column: 1 / -1; width: 100%; height: .35rem; margin-top: .3rem; border: 0; border-radius: .2rem; overflow: hidden;
          appearance: none; background: var(--line); }
        progress::-webkit-progress-bar { background: var(--line); }
        progress::-webkit-progress-value { background: var(--running); transition: width .3s; }
        progress::-moz-progress-bar { background: var(--running); }
        li[data-state="failed"] { border-left: .3rem solid var(--failed); grid-template-columns: 1fr auto; padding: .8rem 1rem; }
        li .message { grid-column: 1 / -1; margin: .2rem 0 0; color: var(--failed); }
        li .remedy { grid-column: 1 / -1; margin: .1rem 0 0; }
        li .retry { grid-column: 1 / -1; justify-self: start; margin-top: .5rem; }
        li.found { outline: 3px solid var(--accent); outline-offset: 2px; }
        dialog { width: min(34rem, calc(100vw - 2rem)); padding: 1.25rem; border: 1px solid var(--line); border-radius: .9rem; background: var(--card);
          color: var(--ink); }
        dialog::backdrop { background: rgb(0 0 0 / .5); }
        dialog h2 { margin-top: 0; font-size: 1.2rem; }
        dialog p { display: grid; gap: .3rem; }
        dialog .buttons { display: flex; flex-wrap: wrap; gap: .6rem; margin-bottom: 0; }
        video { width: 100%; border-radius: .6rem; background: #000; }
        #link-code svg { width: 12rem; max-width: 100%; height: auto; background: #fff; border-radius: .4rem; }
        #scan-result { min-height: 1.5rem; font-weight: 600; }
        @media (max-width: 34rem) {
          header, main { padding: 0 .9rem; } header { padding-top: .9rem; flex-wrap: wrap; gap: .4rem 1rem; }
          .summary { padding: .9rem; } .summary dl { grid-template-columns: repeat(2, 1fr); }
          .tools > * { flex: 1 1 auto; text-align: center; } .search { flex-wrap: wrap; } .search input { flex: 1 1 12rem; }
        }
        main { padding-bottom: 3rem; }
        @media (prefers-reduced-motion: reduce) { * { transition: none !important; } }

        """#
}
