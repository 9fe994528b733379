// What makes the console livelier. Everything can be read without it.
(() => {
  "use strict";
  const one = (what, within = document) => within.querySelector(what);

  // The reader's zone, so that the next page writes times in it.
  const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
  if (zone && document.documentElement.dataset.zone !== zone) {
    document.cookie = "landfall_zone=" + zone + "; path=/; max-age=31536000; samesite=lax" + (location.protocol === "https:" ? "; secure" : "");
  }

  // Live parts: the server sends elements with ids, and each takes the place of
  // the one on the page, unless somebody is typing into it. Nothing is added or
  // moved: what is new is counted, and waits until it is asked for.
  const still = matchMedia("(prefers-reduced-motion: reduce)");
  const figure = (text) => Number(text.replaceAll(",", ""));
  const count = (field, from) => {
    const to = figure(field.textContent), begun = performance.now();
    if (still.matches || document.hidden || !(to > from)) return;
    const step = (now) => {
      const part = Math.min(1, (now - begun) / 800);
      field.textContent = Math.round(from + (to - from) * part).toLocaleString("en");
      if (part < 1 && field.isConnected) requestAnimationFrame(step);
    };
    field.textContent = from.toLocaleString("en");
    requestAnimationFrame(step);
  };
  const ticks = (within) => [...within.querySelectorAll(".count")];
  const links = (within) => [...within.querySelectorAll("a[href]")];
  const put = (now, next) => {
    const held = links(now).indexOf(document.activeElement);
    const before = ticks(now).map((field) => figure(field.dataset.to ?? field.textContent));
    const fresh = document.importNode(next, true);
    if (now.classList.contains("at")) fresh.classList.add("at");
    now.replaceWith(fresh);
    links(fresh)[held]?.focus({ preventScroll: true });
    ticks(fresh).forEach((field, i) => { field.dataset.to = field.textContent; count(field, before[i] ?? 0); });
  };
  const seen = new Map(); // what was sent last, since counting changes the page
  const renew = (html) => {
    for (const next of new DOMParser().parseFromString(html, "text/html").querySelectorAll("[id]")) {
      const now = document.getElementById(next.id);
      if (!now) continue;
      if (next.dataset.count) {
        const more = next.dataset.count - now.dataset.count;
        now.hidden = more <= 0;
        now.textContent = more.toLocaleString("en") + " new";
        continue;
      }
      const busy = now.contains(document.activeElement) && !document.activeElement.matches("a");
      if (busy || one("details[open]", now) || (seen.get(next.id) ?? now.outerHTML) === next.outerHTML) continue;
      seen.set(next.id, next.outerHTML);
      put(now, next);
    }
  };
  const live = one("[data-live]");
  if (live) {
    const source = live.dataset.live;
    let timer = 0;
    const poll = async () => {
      try {
        const answer = await fetch(source + (source.includes("?") ? "&" : "?") + "once=1", { headers: { "HX-Request": "true" }, credentials: "same-origin" });
        if (answer.status === 401) return location.reload();
        if (answer.ok) renew(await answer.text());
      } catch { /* the next round tries again */ }
      timer = setTimeout(poll, 5000);
    };
    const stream = new EventSource(source);
    stream.onmessage = (event) => renew(event.data);
    stream.onerror = () => {
      if (stream.readyState === EventSource.CLOSED && !timer) timer = setTimeout(poll, 2000);
    };
    addEventListener("pagehide", () => { stream.close(); clearTimeout(timer); });
  }

  // Waiting is shown at once, and a second click sends nothing.
  addEventListener("submit", (event) => {
    const form = event.target, button = event.submitter;
    if (event.defaultPrevented || form.method === "dialog") return;
    if (form.dataset.sent) return event.preventDefault();
    if (form.method === "post") form.dataset.sent = "yes";
    if (button) setTimeout(() => button.setAttribute("aria-busy", "true"));
  });
  addEventListener("pageshow", () => document.querySelectorAll("form[data-sent]").forEach((form) => {
    delete form.dataset.sent;
    form.querySelectorAll("[aria-busy]").forEach((button) => button.removeAttribute("aria-busy"));
  }));

  // Keys.
  const rows = () => [...document.querySelectorAll("tbody tr, .suppliers > li")].filter((row) => one("a[href]", row));
  const go = (step) => {
    const all = rows();
    if (!all.length) return;
    const old = all.findIndex((row) => row.classList.contains("at"));
    if (old >= 0) all[old].classList.remove("at");
    const next = all[Math.max(0, Math.min(all.length - 1, old < 0 ? 0 : old + step))];
    next.classList.add("at");
    one("a[href]", next).focus({ preventScroll: true });
    next.scrollIntoView({ block: "nearest" });
  };
  let before = "";
  addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.target.matches("input, textarea, select")) {
      if (event.key === "Escape") event.target.blur();
      return;
    }
    const key = before === "g" ? "g" + event.key : event.key;
    before = event.key === "g" ? "g" : "";
    const does = {
      "/": () => { const field = one(".search input"); field?.focus(); field?.select(); },
      go: () => { location.href = "/console/"; },
      ga: () => { location.href = "/console/admin/"; },
      j: () => go(1), k: () => go(-1),
      "?": () => one("#keys").showModal(),
    }[key];
    if (does) { event.preventDefault(); does(); }
  });

  // Printing, which nothing but a script can ask for.
  document.querySelectorAll("[data-print]").forEach((button) => { button.hidden = false; button.onclick = () => print(); });

  // A menu closes when somebody goes elsewhere.
  addEventListener("click", (event) => {
    document.querySelectorAll("details.who[open]").forEach((menu) => { if (!menu.contains(event.target)) menu.open = false; });
  });
})();
