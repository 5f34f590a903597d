// SPDX-License-Identifier: Apache-2.0

/// The script of a station's page. It changes only the rows that an update has.
enum StationScript {
    static let text = #"""
        "use strict";
        const byID = id => document.getElementById(id);
        const states = ["failed", "running", "waiting", "done"];
        const sections = Object.fromEntries(states.map(s => [s, document.querySelector(`#boards section[data-state="${s}"]`)]));
        const lists = Object.fromEntries(states.map(s => [s, sections[s].querySelector("ul")]));
        const words = { failed: "failed", running: "in progress", waiting: "waiting", done: "done" };
        // Each row with the elements that it has, by line.
        const rows = new Map();
        // For tests: how many rows were sent, and how many elements were written.
        const work = window.stationWork = { updates: 0, rows: 0, writes: 0, moves: 0 };

        const setText = (element, text) => {
          if (element.textContent === text) return;
          element.textContent = text;
          work.writes += 1;
        };
        const show = (element, isShown) => {
          if (element.hidden === !isShown) return;
          element.hidden = !isShown;
          work.writes += 1;
        };

        // A part of a row exists only while it has a text.
        const part = (row, name, tag, text) => {
          let element = row.parts[name];
          if (!text) {
            if (element) { element.remove(); delete row.parts[name]; work.writes += 1; }
            return null;
          }
          if (!element) {
            element = row.parts[name] = document.createElement(tag);
            element.className = name;
            const order = ["name", "place", "step", "bar", "note", "node", "message", "remedy", "retry"];
            const next = order.slice(order.indexOf(name) + 1).map(n => row.parts[n]).find(Boolean);
            row.element.insertBefore(element, next || null);
          }
          setText(element, text);
          return element;
        };

        // Rows are in the order of their lines.
        const place = row => {
          const list = lists[row.state];
          let [low, high] = [0, list.children.length];
          while (low < high) {
            const middle = (low + high) >> 1;
            if (Number(list.children[middle].dataset.line) < row.line) low = middle + 1; else high = middle;
          }
          // A row in a hidden section could not get the focus back.
          show(sections[row.state], true);
          list.insertBefore(row.element, list.children[low] || null);
          work.moves += 1;
        };

        const render = data => {
          let row = rows.get(data.line);
          if (!row) {
            row = { line: data.line, element: document.createElement("li"), parts: {}, state: null };
            row.element.id = `board-${data.line}`;
            row.element.dataset.line = data.line;
            row.element.tabIndex = -1;
            rows.set(data.line, row);
          }
          work.rows += 1;
          row.data = data;
          const hadFocus = row.element.contains(document.activeElement);
          if (row.state !== data.state) {
            row.state = data.state;
            row.element.dataset.state = data.state;
            place(row);
            if (data.state === "failed") tell(`${data.name} failed. ${data.message || ""}`);
          }
          const isRunning = data.state === "running", isFailed = data.state === "failed";
          part(row, "name", "span", data.name);
          part(row, "place", "span", `Line ${data.line}` + (data.attempt > 1 ? `, attempt ${data.attempt}` : ""));
          part(row, "step", "p", isRunning ? data.step : isFailed && data.step ? `Step: ${data.step}` : null);
          const bar = row.parts.bar;
          if (isRunning) {
            const element = bar || (row.parts.bar = document.createElement("progress"));
            if (!bar) {
              element.max = 100;
              element.setAttribute("aria-label", `Progress of ${data.name}`);
              row.element.insertBefore(element, row.parts.note || row.parts.node || null);
            }
            element.value = data.percent;
          } else if (bar) { bar.remove(); delete row.parts.bar; }
          part(row, "note", "p", data.note);
          part(row, "node", "p", data.state === "done" && data.node ? `Node ${data.node}` : null);
          part(row, "message", "p", isFailed ? data.message : null);
          part(row, "remedy", "p", isFailed ? data.remedy : null);
          const isNew = !row.parts.retry;
          const button = part(row, "retry", "button", isFailed ? "Try again" : null);
          if (button && isNew) {
            button.type = "button";
            button.setAttribute("aria-label", `Try ${data.name} again`);
            button.addEventListener("click", () => retry([data.line], row));
          }
          if (button) button.disabled = false;
          filter(row);
          // The focus stays on the row if its button is gone.
          if (hadFocus && !row.element.contains(document.activeElement)) row.element.focus({ preventScroll: true });
        };

        const filter = row => {
          const wanted = byID("search").value.trim().toLowerCase();
          const text = `${row.data.name} ${row.data.node || ""} ${row.data.line}`.toLowerCase();
          show(row.element, !wanted || text.includes(wanted));
        };
        byID("search").addEventListener("input", () => { for (const row of rows.values()) filter(row); });

        // Screen readers get a sentence at most every two seconds.
        let news = [], telling = null;
        const tell = text => {
          news.push(text);
          telling ??= setTimeout(() => {
            const shown = news.length > 3 ? `${news.length} messages. ${news[news.length - 1]}` : news.join(" ");
            byID("news").textContent = shown;
            news = [];
            telling = null;
          }, 2000);
        };

        const activities = { working: "", idle: "All boards are finished.", stopping: "The station is stopping. Each board finishes its step.", halted: "" };
        let activity = null;
        const take = update => {
          work.updates += 1;
          if (update.is_whole) {
            const lines = new Set(update.rows.map(r => r.line));
            for (const [line, row] of rows) if (!lines.has(line)) { row.element.remove(); rows.delete(line); }
          }
          for (const data of update.rows) render(data);
          setText(byID("title"), `Batch ${update.batch}`);
          setText(byID("file"), update.file ? update.file.split("/").pop() : "Boards that appear");
          for (const state of states) {
            setText(byID(`count-${state}`), String(update[state]));
            show(sections[state], lists[state].children.length > 0);
            setText(sections[state].querySelector("h2"), `${{ failed: "Failed", running: "In progress", waiting: "Waiting", done: "Done" }[state]} (${update[state]})`);
            if (state !== "waiting") document.querySelector(`#meter .${state}`).style.width = `${update.total ? 100 * update[state] / update.total : 0}%`;
          }
          document.title = `${update.done} of ${update.total} done${update.failed ? `, ${update.failed} failed` : ""} – Batch ${update.batch}`;
          show(byID("empty"), update.total === 0);
          setText(byID("empty"), update.can_scan === "discovered" ? "No boards yet. Switch a board on, or scan its code." : "No boards yet.");
          setText(byID("hidden-rows"), `${update.hidden} more boards are not shown here. The report has all of them.`);
          show(byID("hidden-rows"), update.hidden > 0);
          let line = `${update.done} of ${update.total} boards done.`;
          if (activities[update.activity] && (update.activity !== "idle" || update.total)) line += ` ${activities[update.activity]}`;
          setText(byID("activity"), line);
          if (activity && activity !== update.activity && activities[update.activity]) tell(`${activities[update.activity]} ${update.done} done, ${update.failed} failed.`);
          activity = update.activity;
          const notice = [update.message, update.remedy].filter(Boolean).join(" ");
          setText(byID("notice"), notice);
          show(byID("notice"), notice !== "");
          show(byID("retry-all"), update.failed > 0);
          show(byID("continue"), update.activity === "halted");
        };

        // The connection: the browser connects again by itself, and names the last update that it has.
        const connection = (state, text) => { byID("connection").dataset.state = state; setText(byID("connection"), text); };
        let source = null;
        const connect = () => {
          source = new EventSource("/events");
          source.onopen = () => connection("live", "Live");
          source.onmessage = event => { connection("live", "Live"); take(JSON.parse(event.data)); };
          source.onerror = async () => {
            connection("lost", "No connection. Connecting again…");
            if (source.readyState !== EventSource.CLOSED) return;
            source.close();
            try {
              const answer = await fetch("/icon.svg", { cache: "no-store" });
              if (answer.status === 403) {
                connection("lost", "The station was started again. Open the link that it has printed.");
              }
            } catch { /* It does not run at the moment. */ }
            setTimeout(connect, 2000);
          };
        };

        const post = async (path, body, type) => {
          const answer = await fetch(path, { method: "POST", body, headers: { "Content-Type": type || "application/json" } });
          const text = await answer.text();
          try { return JSON.parse(text); } catch { return { message: text.trim() }; }
        };
        const retry = async (lines, row) => {
          if (row) { row.parts.retry.disabled = true; row.element.focus({ preventScroll: true }); }
          try {
            const answer = await post("/retry", JSON.stringify(lines ? { lines } : {}));
            tell(answer.message || (answer.waiting === 1 ? "One board is tried again." : `${answer.waiting} boards are tried again.`));
          } catch {
            tell("The station does not answer.");
            if (row && row.parts.retry) row.parts.retry.disabled = false;
          }
        };
        byID("retry-all").addEventListener("click", () => { byID("boards").focus({ preventScroll: true }); retry(null); });
        byID("continue").addEventListener("click", () => { byID("boards").focus({ preventScroll: true }); post("/continue", "{}").catch(() => {}); });

        for (const dialog of document.querySelectorAll("dialog")) {
          dialog.querySelector(".close").addEventListener("click", () => dialog.close());
        }

        // Scanning: the station reads the codes. The camera needs a page of this machine; elsewhere a picture is sent.
        const scan = byID("scan"), camera = byID("camera"), canvas = document.createElement("canvas");
        let tracks = null;
        const draw = (image, width, height) => {
          const scale = Math.min(1, 1600 / Math.max(width, height));
          canvas.width = Math.round(width * scale);
          canvas.height = Math.round(height * scale);
          const context = canvas.getContext("2d");
          context.fillStyle = "#fff";
          context.fillRect(0, 0, canvas.width, canvas.height);
          context.drawImage(image, 0, 0, canvas.width, canvas.height);
          return new Promise(done => canvas.toBlob(done, "image/jpeg", 0.9));
        };
        const scanned = answer => {
          setText(byID("scan-result"), answer.message || "");
          if (!answer.found) return false;
          const row = rows.get(answer.line);
          document.querySelectorAll("li.found").forEach(e => e.classList.remove("found"));
          if (row) {
            row.element.classList.add("found");
            row.element.scrollIntoView({ block: "center" });
          }
          return true;
        };
        scan.addEventListener("close", () => {
          stopCamera();
          const row = document.querySelector("li.found");
          if (row) row.focus();
        });
        const stopCamera = () => {
          if (tracks) for (const track of tracks.getTracks()) track.stop();
          tracks = null;
          camera.hidden = true;
        };
        const hasCamera = () => window.isSecureContext && navigator.mediaDevices && navigator.mediaDevices.getUserMedia;
        byID("open-scan").addEventListener("click", () => {
          document.querySelectorAll("li.found").forEach(e => e.classList.remove("found"));
          byID("scan-result").textContent = "";
          show(byID("start-camera"), Boolean(hasCamera()));
          setText(byID("scan-help"), hasCamera()
            ? "Hold a board's label in front of the camera, or choose a picture of it."
            : "Choose a picture of a board's label. On a phone you can take one now.");
          scan.showModal();
        });
        byID("start-camera").addEventListener("click", async () => {
          try {
            tracks = await navigator.mediaDevices.getUserMedia({ video: { facingMode: "environment" }, audio: false });
          } catch {
            setText(byID("scan-result"), "The camera cannot be used. Choose a picture instead.");
            return;
          }
          camera.srcObject = tracks;
          camera.hidden = false;
          await camera.play();
          // One picture at a time: the next one follows the answer to the last.
          while (tracks && scan.open) {
            if (camera.videoWidth) {
              const answer = await post("/scan", await draw(camera, camera.videoWidth, camera.videoHeight), "image/jpeg").catch(() => ({}));
              if (answer.found) { scanned(answer); stopCamera(); return; }
            }
            await new Promise(done => setTimeout(done, 200));
          }
        });
        byID("picture").addEventListener("change", async event => {
          const file = event.target.files[0];
          if (!file) return;
          setText(byID("scan-result"), "Reading the picture…");
          let body = file;
          try {
            const bitmap = await createImageBitmap(file);
            if (bitmap.width * bitmap.height > 4e6 || !/^image\/(png|jpeg)$/.test(file.type)) body = await draw(bitmap, bitmap.width, bitmap.height);
          } catch { /* The station says what is wrong with it. */ }
          try {
            scanned(await post("/scan", body, "image/jpeg"));
          } catch {
            setText(byID("scan-result"), "The station does not answer.");
          }
          event.target.value = "";
        });

        byID("open-link").addEventListener("click", async () => {
          const answer = await post("/link", "{}").catch(() => ({ message: "The station does not answer." }));
          const isLocal = ["localhost", "127.0.0.1", "[::1]"].includes(location.hostname);
          setText(byID("link-help"), answer.message || (isLocal
            ? "This station can be opened on this machine only. To use a phone, start the station on this machine's network address."
            : "Open this link on the other device. It works in one browser only."));
          byID("link-text").value = answer.url || "";
          const code = byID("link-code");
          code.replaceChildren();
          if (answer.svg && !isLocal) {
            const drawing = new DOMParser().parseFromString(answer.svg, "image/svg+xml").documentElement;
            drawing.setAttribute("role", "img");
            drawing.setAttribute("aria-label", "QR code of the link");
            code.append(document.importNode(drawing, true));
          }
          byID("link").showModal();
        });

        connect();

        """#
}
