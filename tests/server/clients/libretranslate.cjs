// libretranslate.cjs URL: npm's client of LibreTranslate against a server with the bundled model. NODE_PATH names the
// folder of the package; ends with 77 where it is not there (npm install libretranslate).
let translate;
try {
  ({ translate } = require("libretranslate"));
} catch {
  console.log("SKIPPED: npm's libretranslate is not installed");
  process.exit(77);
}
const assert = require("node:assert");

(async () => {
  const asked = { query: "Where is the station?", target: "fr", format: "text", apiurl: process.argv[2], apikey: "any" };
  for (const source of ["en", "auto"]) {
    const made = await translate({ ...asked, source });
    assert.strictEqual(made.translatedText ?? made, "Où est la gare ?", JSON.stringify(made));
  }
})();
