// SPDX-License-Identifier: Apache-2.0

/// The station's page. Its script fills it.
enum StationHTML {
    static let text = #"""
        <!DOCTYPE html>
        <html lang="en">
        <head>
        <meta charset="utf-8">
        <meta name="viewport" content="width=device-width, initial-scale=1">
        <meta name="color-scheme" content="light dark">
        <title>Station</title>
        <link rel="icon" href="/icon.svg" type="image/svg+xml">
        <link rel="stylesheet" href="/station.css">
        <script src="/station.js" defer></script>
        </head>
        <body>
        <a class="skip" href="#boards">Go to the boards</a>
        <header>
          <div class="title">
            <h1 id="title">Station</h1>
            <p id="file"></p>
          </div>
          <p id="connection" role="status" data-state="waiting">Connecting</p>
        </header>
        <main>
          <section class="summary" aria-labelledby="summary-title">
            <h2 id="summary-title" class="hidden">Summary</h2>
            <div id="meter" aria-hidden="true"><span class="done"></span><span class="failed"></span><span class="running"></span></div>
            <dl>
              <div data-state="failed"><dt>Failed</dt><dd id="count-failed">0</dd></div>
              <div data-state="running"><dt>In progress</dt><dd id="count-running">0</dd></div>
              <div data-state="waiting"><dt>Waiting</dt><dd id="count-waiting">0</dd></div>
              <div data-state="done"><dt>Done</dt><dd id="count-done">0</dd></div>
            </dl>
            <p id="activity"></p>
            <div id="notice" role="alert" hidden></div>
          </section>
          <nav class="tools" aria-label="Tools">
            <button type="button" id="retry-all" class="primary" hidden>Try all failed boards again</button>
            <button type="button" id="continue" class="primary" hidden>Continue</button>
            <button type="button" id="open-scan">Scan a QR code</button>
            <a href="/report.html" target="_blank" rel="noopener">Report</a>
            <a href="/report.csv" download>Table (CSV)</a>
            <a href="/labels.html" target="_blank" rel="noopener">Labels</a>
            <button type="button" id="open-link">Another device</button>
          </nav>
          <div id="boards" tabindex="-1">
            <p class="search"><label for="search">Find a board</label> <input id="search" type="search" autocomplete="off"></p>
            <section aria-labelledby="title-failed" data-state="failed" hidden><h2 id="title-failed" tabindex="-1">Failed</h2><ul></ul></section>
            <section aria-labelledby="title-running" data-state="running" hidden><h2 id="title-running">In progress</h2><ul></ul></section>
            <section aria-labelledby="title-waiting" data-state="waiting" hidden><h2 id="title-waiting">Waiting</h2><ul></ul></section>
            <section aria-labelledby="title-done" data-state="done" hidden><h2 id="title-done">Done</h2><ul></ul></section>
            <p id="empty">No boards yet.</p>
            <p id="hidden-rows" hidden></p>
          </div>
        </main>
        <div id="news" class="hidden" role="status"></div>
        <dialog id="scan" aria-labelledby="scan-title">
          <h2 id="scan-title">Scan a QR code</h2>
          <p id="scan-help"></p>
          <video id="camera" muted playsinline hidden aria-label="The camera's picture"></video>
          <p><label for="picture">Choose or take a picture</label> <input id="picture" type="file" accept="image/png,image/jpeg,image/*"></p>
          <p id="scan-result" role="status"></p>
          <p class="buttons"><button type="button" id="start-camera">Use the camera</button> <button type="button" class="close">Close</button></p>
        </dialog>
        <dialog id="link" aria-labelledby="link-title">
          <h2 id="link-title">Another device</h2>
          <p id="link-help"></p>
          <div id="link-code"></div>
          <p><label for="link-text">Link for one browser</label> <input id="link-text" readonly></p>
          <p class="buttons"><button type="button" class="close">Close</button></p>
        </dialog>
        </body>
        </html>

        """#
}
