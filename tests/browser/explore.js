// Goes through the interactive page in a real browser: see tools/browser.sh.
//   node explore.js URL FOLDER    (FOLDER holds votes.csv, page.html and large.csv; pictures go there)
const { chromium } = require("playwright-core");
const fs = require("fs");
const path = require("path");
const [url, folder] = process.argv.slice(2);
let failed = 0;

function must(condition, what) {
  if (!condition) failed++;
  console.log(`${condition ? "ok" : "FAILED"} ${what}`);
}

async function settled(page) {
  await page.waitForTimeout(300);
  await page.waitForFunction(() => !document.documentElement.classList.contains("shiny-busy"), null, {
    timeout: 60000,
  });
}

// Does it come, within what a busy machine needs?
function comes(locator) {
  return locator.first().waitFor({ timeout: 20000 }).then(() => true, () => false);
}

async function open(page, tab) {
  const link = page.locator(`.navbar a[data-value="${tab}"]`);
  if (!(await link.isVisible())) {
    await page.locator(".navbar-toggle, .navbar-toggler").first().click();
    await page.waitForTimeout(500);
  }
  await link.click();
  await settled(page);
  const menu = page.locator(".navbar-collapse.show, .navbar-collapse.collapsing");
  await menu.waitFor({ state: "hidden", timeout: 5000 }).catch(() => {});
  must(!(await menu.isVisible()), `the menu closes when ${tab} is chosen`);
}

async function walk(browser, width) {
  const page = await browser.newPage({ viewport: { width, height: 900 }, acceptDownloads: true });
  const picture = async (name) => {
    const beyond = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
    must(beyond <= 1, `nothing goes beyond the edge of ${name} (${width})`);
    await page.screenshot({ path: path.join(folder, `${name}-${width}.png`), fullPage: true });
  };
  // Debian's shiny asks for a script that its package lacks, and does without it.
  const lacking = (text) => /strftime|Failed to load resource/.test(text);
  const errors = [];
  const outside = [];
  page.on("pageerror", (e) => errors.push(String(e)));
  page.on("console", (m) => m.type() === "error" && !lacking(m.text()) && errors.push(m.text()));
  page.on("response", (r) => r.status() >= 400 && !lacking(r.url()) && errors.push(r.url()));
  page.on("dialog", (d) => (errors.push("dialog"), d.dismiss()));
  page.on("request", (r) => /^https?:/.test(r.url()) && !r.url().startsWith(url) && outside.push(r.url()));
  await page.goto(url);
  await settled(page);
  must(await comes(page.getByText("What is this?")), `the start page says what it is (${width})`);
  const first = page.getByText("Choose ratings under");
  must(await first.evaluateAll((all) => all.filter((e) => e.offsetParent).length) === 1, `it asks once (${width})`);
  await picture("1-start");

  await page.setInputFiles("#file", path.join(folder, "page.html"));
  await settled(page);
  must(await comes(page.locator("#messages .alert-danger", { hasText: "page.html" })), `a wrong file gets a message (${width})`);
  await picture("2-wrong-file");

  await page.setInputFiles("#file", path.join(folder, "large.csv"));
  must(await comes(page.getByText(/exceeded/i)), `a large file is refused (${width})`);

  await page.setInputFiles("#file", path.join(folder, "votes.csv"));
  await settled(page);
  await page.locator("#layout input[value=long]").check();
  await settled(page);
  await page.selectOption("#case", "item");
  await page.selectOption("#rater", "who");
  await settled(page);
  await page.selectOption("#rating", "said");
  await page.locator("#systems input[value='<b>gpt</b>']").check();
  await page.locator("#use").focus();
  await page.keyboard.press("Enter");
  must(await comes(page.locator("#facts", { hasText: "2 raters" })), `ratings are read (${width})`);
  await settled(page);
  await picture("3-data");

  await open(page, "Agreement");
  must((await page.locator("#agreement_plot img").getAttribute("alt")).length > 10, `a picture has words (${width})`);
  must(await page.locator("#agreement_table").evaluate((e) => e.parentElement.scrollWidth <= e.parentElement.clientWidth) || width < 1200,
    `the table of agreement fits (${width})`);
  await picture("4-agreement");
  await open(page, "Accuracy");
  must(await comes(page.locator("#sentences", { hasText: "the accuracy of" })), `accuracy is told (${width})`);
  await page.locator("#choose").check();
  await settled(page);
  await page.fill("#least", "0.6");
  must(await comes(page.locator("#gate_table td")), `a threshold gives a decision (${width})`);
  await picture("5-accuracy");
  await open(page, "Comparison");
  const two = page.getByText("no two systems");
  must(await two.evaluateAll((all) => all.filter((e) => e.offsetParent).length) === 1, `a message is shown once (${width})`);
  await picture("6-comparison");
  await open(page, "Plan");
  must(await comes(page.locator("#plan", { hasText: "Cases to label" })), `a plan is made (${width})`);
  await picture("7-plan");
  const [cases] = await Promise.all([
    page.waitForEvent("download", { timeout: 120000 }),
    page.locator("#cases").click(),
  ]);
  const list = path.join(folder, `cases-${width}.csv`);
  await cases.saveAs(list);
  must(/probability/.test(fs.readFileSync(list, "utf8")), `the cases to label are loaded down (${width})`);
  await open(page, "Report");
  must(await comes(page.locator("#code", { hasText: "read_ratings" })), `the code is shown (${width})`);
  const [download] = await Promise.all([
    page.waitForEvent("download", { timeout: 120000 }),
    page.locator("#report").click(),
  ]);
  const report = path.join(folder, `report-${width}.html`);
  await download.saveAs(report);
  const text = fs.readFileSync(report, "utf8");
  must(/<\/html>/.test(text) && !/<script>alert/.test(text), `a report is loaded down, with labels as text (${width})`);
  await picture("8-report");
  must(outside.length === 0, `nothing is asked of others (${width}) ${outside}`);
  must(errors.length === 0, `no errors (${width}) ${errors.join("; ")}`);
  await page.close();
}

(async () => {
  const browser = await chromium.launch({
    executablePath: process.env.FALLIBLE_CHROMIUM || "/usr/bin/chromium",
    args: ["--no-sandbox"],
  });
  for (const width of [400, 1200]) await walk(browser, width);
  await browser.close();
  process.exit(failed ? 1 : 0);
})().catch((e) => {
  console.log(String(e));
  process.exit(1);
});
