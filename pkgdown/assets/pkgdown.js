// In place of pkgdown's own script, whose libraries come from other servers: a list of what is on
// the page, buttons that copy code, and the search.
function element(tag, className, text) {
  const made = document.createElement(tag);
  made.className = className;
  made.textContent = text || "";
  return made;
}

function listHeadings(toc) {
  const list = element("ul", "nav flex-column");
  for (const heading of document.querySelectorAll("main h2")) {
    const place = heading.id || (heading.closest("[id]") || {}).id;
    if (!place || place === "main") continue;
    const link = element("a", "nav-link", heading.textContent);
    link.href = `#${place}`;
    list.append(link);
  }
  if (list.children.length) toc.append(list);
  else toc.remove();
}

// Browsers let pages write to the clipboard only where these come from a safe place.
function addCopying(code) {
  code.classList.add("hasCopyButton");
  const button = element("button", "btn btn-sm btn-light btn-copy-ex", "Copy");
  button.type = "button";
  button.addEventListener("click", async () => {
    const text = code.querySelector("pre").textContent.replace(/\n#>[^\n]*/g, "");
    await navigator.clipboard.writeText(text);
    button.textContent = "Copied";
  });
  code.prepend(button);
}

// How well an entry of the index answers: words in titles count more; 0 if one is nowhere.
function score(entry, words) {
  const title = `${entry.title} ${entry.what}`.toLowerCase();
  const text = `${entry.text} ${entry.code || ""}`.toLowerCase();
  const each = words.map((word) => (title.includes(word) ? 3 : text.includes(word) ? 1 : 0));
  return each.includes(0) ? 0 : each.reduce((a, b) => a + b, 0);
}

function addSearch(input) {
  const file = new URL(input.dataset.searchIndex, location.href);
  const results = element("div", "dropdown-menu search-results");
  let index;
  const hide = () => results.classList.remove("show");
  const address = (entry) => {
    const url = new URL(entry.path.replace(/^\//, ""), file);
    if (entry.id) url.hash = entry.id;
    return url.href;
  };
  input.setAttribute("aria-label", "Search for");
  input.form.classList.add("position-relative");
  input.after(results);
  input.form.addEventListener("submit", (event) => event.preventDefault());
  input.addEventListener("input", async () => {
    index = index || fetch(file).then((response) => response.json());
    const entries = await index;
    const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
    const found = entries.map((entry) => [score(entry, words), entry]).filter(([s]) => s > 0);
    found.sort((a, b) => b[0] - a[0]);
    const pages = new Map(); // the best of each
    for (const [, entry] of found) if (!pages.has(entry.path)) pages.set(entry.path, entry);
    results.replaceChildren(...[...pages.values()].slice(0, 12).map((entry) => {
      const same = entry.title === entry.what || !entry.what;
      const words = same ? entry.title : `${entry.title}: ${entry.what}`;
      const link = element("a", "dropdown-item", words);
      link.href = address(entry);
      return link;
    }));
    if (!found.length) results.append(element("span", "dropdown-item-text", "Nothing was found."));
    results.classList.toggle("show", words.length > 0);
  });
  input.form.addEventListener("keydown", (event) => event.key === "Escape" && hide());
  document.addEventListener("click", (event) => input.form.contains(event.target) || hide());
}

const toc = document.getElementById("toc");
if (toc) listHeadings(toc);
if (navigator.clipboard) document.querySelectorAll("div.sourceCode").forEach(addCopying);
const input = document.getElementById("search-input");
if (input) addSearch(input);
