// Live updates and keyboard shortcuts. Every page works without this script.
(() => {
  "use strict";
  const find = (selector, within = document) => within.querySelector(selector);
  const findAll = (selector, within = document) => [...within.querySelectorAll(selector)];

  // Store the reader's time zone, so that the next page uses it.
  const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
  if (zone && document.documentElement.dataset.zone !== zone) {
    const secure = location.protocol === "https:" ? "; secure" : "";
    document.cookie = "landfall_zone=" + zone + "; path=/; max-age=31536000; samesite=lax" + secure;
  }

  // Numbers that changed count up to their new value.
  const reducedMotion = matchMedia("(prefers-reduced-motion: reduce)");
  const parseNumber = (text) => Number(text.replaceAll(",", ""));
  const countUp = (field, from) => {
    const to = parseNumber(field.textContent);
    const started = performance.now();
    if (reducedMotion.matches || document.hidden || !(to > from)) return;
    const step = (now) => {
      const progress = Math.min(1, (now - started) / 800);
      field.textContent = Math.round(from + (to - from) * progress).toLocaleString("en");
      if (progress < 1 && field.isConnected) requestAnimationFrame(step);
    };
    field.textContent = from.toLocaleString("en");
    requestAnimationFrame(step);
  };

  // Live updates: the server sends elements with the attribute data-part, and each
  // replaces the element with its id, unless somebody is typing in it. Rows are
  // never added or moved: a link counts the new ones until it is clicked.
  const replace = (current, next) => {
    const focused = findAll("a[href]", current).indexOf(document.activeElement);
    const before = findAll(".count", current).map((field) => parseNumber(field.dataset.to ?? field.textContent));
    const fresh = document.importNode(next, true);
    if (current.classList.contains("selected")) fresh.classList.add("selected");
    current.replaceWith(fresh);
    findAll("a[href]", fresh)[focused]?.focus({ preventScroll: true });
    findAll(".count", fresh).forEach((field, i) => {
      field.dataset.to = field.textContent;
      countUp(field, before[i] ?? 0);
    });
  };
  const received = new Map(); // the last version of each part: counting up changes the page
  const update = (html) => {
    for (const next of findAll("[data-part]", new DOMParser().parseFromString(html, "text/html"))) {
      const current = document.getElementById(next.id);
      if (!current) continue;
      if (next.dataset.count) {
        const added = next.dataset.count - current.dataset.count;
        current.hidden = added <= 0;
        current.textContent = added.toLocaleString("en") + " new";
        continue;
      }
      const busy = current.contains(document.activeElement) && !document.activeElement.matches("a");
      const unchanged = (received.get(next.id) ?? current.outerHTML) === next.outerHTML;
      if (busy || unchanged || find("details[open]", current)) continue;
      received.set(next.id, next.outerHTML);
      replace(current, next);
    }
  };
  const live = find("[data-live]");
  if (live) {
    const source = live.dataset.live;
    let timer = 0;
    const poll = async () => {
      try {
        const address = source + (source.includes("?") ? "&" : "?") + "once=1";
        const response = await fetch(address, { headers: { "HX-Request": "true" }, credentials: "same-origin" });
        if (response.status === 401) return location.reload();
        if (response.ok) update(await response.text());
      } catch { /* the next poll tries again */ }
      timer = setTimeout(poll, 5000);
    };
    const stream = new EventSource(source);
    stream.onmessage = (event) => update(event.data);
    stream.onerror = () => {
      if (stream.readyState === EventSource.CLOSED && !timer) timer = setTimeout(poll, 2000);
    };
    addEventListener("pagehide", () => {
      stream.close();
      clearTimeout(timer);
    });
  }

  // Show at once that a form was sent, and do not send it twice.
  addEventListener("submit", (event) => {
    const form = event.target;
    const button = event.submitter;
    if (event.defaultPrevented || form.method === "dialog") return;
    if (form.dataset.sent) return event.preventDefault();
    if (form.method === "post") form.dataset.sent = "yes";
    if (button) setTimeout(() => button.setAttribute("aria-busy", "true"));
  });
  addEventListener("pageshow", () => findAll("form[data-sent]").forEach((form) => {
    delete form.dataset.sent;
    findAll("[aria-busy]", form).forEach((button) => button.removeAttribute("aria-busy"));
  }));

  // Keyboard shortcuts.
  const moveSelection = (step) => {
    const rows = findAll("tbody tr, .suppliers > li").filter((row) => find("a[href]", row));
    if (!rows.length) return;
    const old = rows.findIndex((row) => row.classList.contains("selected"));
    if (old >= 0) rows[old].classList.remove("selected");
    const next = rows[Math.max(0, Math.min(rows.length - 1, old < 0 ? 0 : old + step))];
    next.classList.add("selected");
    find("a[href]", next).focus({ preventScroll: true });
    next.scrollIntoView({ block: "nearest" });
  };
  const focusSearch = () => {
    const field = find(".search input");
    field?.focus();
    field?.select();
  };
  // The palette: a dialog that searches while somebody types. Arrows move between the
  // field and the results.
  const palette = find("#palette");
  const openPalette = () => {
    if (!palette || palette.open) return;
    palette.showModal();
    const field = find("input", palette);
    field.value = "";
    htmx.trigger(field, "opened");
  };
  palette?.addEventListener("keydown", (event) => {
    const stops = [find("input", palette), ...findAll("a[href]", palette)];
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step) {
      event.preventDefault();
      stops[(stops.indexOf(document.activeElement) + step + stops.length) % stops.length].focus();
    } else if (event.key === "Enter" && document.activeElement === stops[0] && stops[1]) {
      event.preventDefault();
      stops[1].click();
    }
  });
  palette?.addEventListener("click", (event) => {
    if (event.target === palette) palette.close();
  });
  const shortcuts = {
    "/": focusSearch,
    go: () => { location.href = "/console/"; },
    ga: () => { location.href = "/console/admin/"; },
    j: () => moveSelection(1),
    k: () => moveSelection(-1),
    "?": () => find("#keys").showModal(),
  };
  let previousKey = "";
  addEventListener("keydown", (event) => {
    if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "k" && palette) {
      event.preventDefault();
      openPalette();
    }
    if (event.key === "Escape") closeMenus();
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.target.matches("input, textarea, select")) {
      if (event.key === "Escape" && !event.target.closest("dialog")) event.target.blur();
      return;
    }
    if (find("dialog[open]")) return;
    const shortcut = shortcuts[previousKey === "g" ? "g" + event.key : event.key];
    previousKey = event.key === "g" ? "g" : "";
    if (shortcut) {
      event.preventDefault();
      shortcut();
    }
  });

  // Passkeys: the browser answers a challenge of the server, and the form sends the
  // answer. Forms that need a passkey are hidden where there are none.
  if (window.PublicKeyCredential?.parseCreationOptionsFromJSON) {
    findAll("form[data-passkey]").forEach((form) => {
      form.hidden = false;
      form.addEventListener("submit", async (event) => {
        event.preventDefault();
        const problem = find("[role=alert]", form);
        problem.hidden = true;
        try {
          let credential;
          if (form.dataset.passkey === "create") {
            const publicKey = PublicKeyCredential.parseCreationOptionsFromJSON(JSON.parse(form.dataset.options));
            credential = await navigator.credentials.create({ publicKey });
          } else {
            const response = await fetch(form.dataset.from, { method: "POST", credentials: "same-origin" });
            if (!response.ok) throw new Error(response.statusText);
            const publicKey = PublicKeyCredential.parseRequestOptionsFromJSON(await response.json());
            credential = await navigator.credentials.get({ publicKey });
          }
          find("[name=credential]", form).value = JSON.stringify(credential);
          form.submit();
        } catch {
          problem.hidden = false;
        }
      });
    });
  }

  // Only a script can print, so the button is hidden without one.
  findAll("[data-print]").forEach((button) => {
    button.hidden = false;
    button.onclick = () => print();
  });

  // Close the menu when somebody clicks elsewhere or presses Escape.
  const closeMenus = (except) => findAll("details.user-menu[open]").forEach((menu) => {
    if (!menu.contains(except)) menu.open = false;
  });
  addEventListener("click", (event) => closeMenus(event.target));
})();
