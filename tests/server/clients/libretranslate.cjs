// libretranslate.cjs LAPILLI: npm's client of LibreTranslate against a server with the bundled model. NODE_PATH names
// the folder of the package; ends with 77 where it is not there (npm install libretranslate).
let translate;
try {
  ({ translate } = require("libretranslate"));
} catch {
  console.log("SKIPPED: npm's libretranslate is not installed");
  process.exit(77);
}
const assert = require("node:assert");
const { once } = require("node:events");
const { spawn } = require("node:child_process");

async function check(url) {
  const asked = { query: "Where is the station?", target: "fr", format: "text", apiurl: url, apiKey: "any" };
  for (const source of ["en", "auto"]) {
    const made = await translate({ ...asked, source });
    assert.strictEqual(made.translatedText ?? made, "Où est la gare ?", JSON.stringify(made));
  }
}

(async () => {
  const server = spawn(process.argv[2], ["serve", "--port", "0", "--quiet"], { stdio: ["ignore", "pipe", "inherit"] });
  const ended = once(server, "exit");
  const [line] = await once(server.stdout, "data");
  try {
    await check(String(line).trim().split(" ").pop());
  } finally {
    server.kill();
  }
  assert.strictEqual((await ended)[0], 0, "the server's exit code");
})();
