// Opens every page of the site in a real browser, narrow and wide: see tools/site.sh.
//   node site.js SITE [PICTURES]    (SITE: the folder that pkgdown made)
const { chromium } = require("playwright-core");
const fs = require("fs");
const http = require("http");
const path = require("path");
const [site, pictures] = process.argv.slice(2);
const widths = [400, 1200];
const types = {
  ".css": "text/css", ".html": "text/html", ".js": "text/javascript", ".json": "application/json",
  ".svg": "image/svg+xml",
};

function files(folder) {
  return fs.readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const name = path.join(folder, entry.name);
    return entry.isDirectory() ? files(name) : [name];
  });
}

// The search of a site asks for its index, which browsers refuse to pages that are mere files.
function serve() {
  const server = http.createServer((request, response) => {
    const name = path.join(site, decodeURIComponent(request.url.split("?")[0]));
    const found = name.startsWith(site) && fs.existsSync(name) && fs.statSync(name).isFile();
    response.writeHead(found ? 200 : 404, { "Content-Type": types[path.extname(name)] || "" });
    response.end(found ? fs.readFileSync(name) : "");
  });
  return new Promise((ready) => server.listen(0, "127.0.0.1", () => ready(server)));
}

// What a reader would see, or not: runs in the page.
function look() {
  const shown = (e) => e.getClientRects().length > 0 && getComputedStyle(e).visibility !== "hidden";
  const scrolls = (e) => {
    for (; e && e !== document.body; e = e.parentElement) {
      if (/auto|scroll/.test(getComputedStyle(e).overflowX)) return true;
    }
    return false;
  };
  const said = (e) => `${e.tagName.toLowerCase()} "${(e.textContent || e.src || "").trim().slice(0, 50)}"`;
  const all = [...document.body.querySelectorAll("*")].filter(shown);
  const hidden = (e) => e.closest(".dropdown-menu, .visually-hidden, .visually-hidden-focusable");
  const wide = all.filter((e) => e.getBoundingClientRect().right > innerWidth + 1);
  const clipped = all.filter((e) => {
    const style = getComputedStyle(e);
    return /hidden|clip/.test(style.overflowX) && e.scrollWidth > e.clientWidth + 1 && e.clientWidth > 0;
  });
  // On a wide screen, lines of code and tables of articles fit.
  const fits = innerWidth < 1200 || !/^[/](articles[/]|index)/.test(location.pathname);
  const cut = all.filter((e) => /^(PRE|TABLE)$/.test(e.tagName) && e.scrollWidth > e.clientWidth + 1);
  return {
    cut: fits ? [] : cut.map(said),
    beyond: document.documentElement.scrollWidth > innerWidth + 1 ? document.documentElement.scrollWidth : 0,
    wide: wide.filter((e) => !scrolls(e) && !hidden(e)).map(said),
    clipped: clipped.filter((e) => !hidden(e)).map(said),
    images: [...document.images].filter((i) => i.complete && !i.naturalWidth).map((i) => i.src),
    wordless: [...document.images].filter((i) => !i.hasAttribute("alt")).map((i) => i.src),
    formulas: all.filter((e) => !e.children.length && /\\[([]|\$\$/.test(e.textContent) && !e.closest("pre, code")).map(said),
    links: [...document.querySelectorAll("a[href]")].map((a) => a.href),
    places: [...document.querySelectorAll("[id]")].map((e) => e.id),
  };
}

async function open(browser, root, name, width, problem) {
  const page = await browser.newPage({ viewport: { width, height: 900 } });
  const tell = (what) => problem(`${name} (${width}): ${what}`);
  page.on("pageerror", (e) => tell(e));
  page.on("console", (m) => m.type() === "error" && tell(m.text()));
  page.on("response", (r) => r.status() >= 400 && tell(`${r.status()} ${r.url()}`));
  page.on("request", (r) => /^https?:/.test(r.url()) && !r.url().startsWith(root) && tell(`asks for ${r.url()}`));
  await page.goto(`${root}/${name}`, { waitUntil: "load" });
  const seen = await page.evaluate(look);
  if (seen.beyond) tell(`is ${seen.beyond} wide`);
  for (const key of ["cut", "wide", "clipped", "images", "wordless", "formulas"]) {
    if (seen[key].length) tell(`${key}: ${[...new Set(seen[key])].slice(0, 4).join("; ")}`);
  }
  if (pictures && /^(index|(articles|news|reference)\/index|articles\/)/.test(name)) {
    const picture = `${name.replace(/[/]/g, "-").replace(/\.html$/, "")}-${width}.png`;
    await page.screenshot({ path: path.join(pictures, picture), fullPage: true });
  }
  await page.close();
  return seen;
}

// Links that stay in the site, to pages that are not there, or to places that a page lacks.
function dead(root, seen, problem) {
  for (const [name, page] of seen) {
    for (const link of new Set(page.links.filter((link) => link.startsWith(root)))) {
      const [to, place] = link.slice(root.length + 1).split("#");
      const target = seen.get(to || "index.html");
      if (!target && !fs.existsSync(path.join(site, to))) problem(`${name}: no page ${to}`);
      if (target && place && !target.places.includes(decodeURIComponent(place))) {
        problem(`${name}: no place ${to}#${place}`);
      }
    }
  }
}

(async () => {
  const server = await serve();
  const root = `http://127.0.0.1:${server.address().port}`;
  const browser = await chromium.launch({
    executablePath: process.env.FALLIBLE_CHROMIUM || "/usr/bin/chromium",
    args: ["--no-sandbox"],
  });
  const names = files(site).filter((name) => name.endsWith(".html")).map((name) => path.relative(site, name));
  const problems = [];
  const problem = (text) => (problems.push(text), console.log(`FAILED ${text}`));
  if (pictures) fs.mkdirSync(pictures, { recursive: true });
  for (const width of widths) {
    const seen = new Map();
    for (const name of names) seen.set(name, await open(browser, root, name, width, problem));
    if (width === widths[0]) dead(root, seen, problem);
  }
  await browser.close();
  server.close();
  console.log(`${names.length} pages at ${widths.join(" and ")} px, ${problems.length} problems`);
  process.exit(problems.length ? 1 : 0);
})().catch((e) => {
  console.log(String(e));
  process.exit(1);
});
