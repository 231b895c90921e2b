// page.mjs LAPILLI SOURCE [SHOTS]: the server's page in headless Chromium, at 360 and 1,280 pixels, against servers with
// the bundled model and small ones of SOURCE/tests/data. NODE_PATH names the folder of puppeteer-core and axe-core (npm
// install puppeteer-core axe-core), CHROMIUM the browser. Ends with 77 where one of them is not there. Pictures of the
// page go to SHOTS. LAPILLI_PAGE_EAR names another model of speech than the small one.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import fs from 'node:fs';
import { createRequire } from 'node:module';
import os from 'node:os';
import path from 'node:path';

const require = createRequire(import.meta.url);
let puppeteer, axe;
try {
  puppeteer = require('puppeteer-core');
  axe = fs.readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8');
} catch (error) {
  console.log('SKIPPED: ' + error.message.split('\n')[0]);
  process.exit(77);
}
const chromium = process.env.CHROMIUM ?? ['chromium', 'chromium-browser', 'google-chrome']
  .flatMap((name) => process.env.PATH.split(':').map((folder) => path.join(folder, name))).find((file) => fs.existsSync(file));
if (!chromium) {
  console.log('SKIPPED: Chromium was not found');
  process.exit(77);
}

const [lapilli, root, shots] = process.argv.slice(2);
const data = path.join(root, 'tests/data'), bundled = path.join(root, 'models/en-fr');
const scratch = fs.mkdtempSync(path.join(os.tmpdir(), 'lapilli-page-'));
const kPatience = 60000;
const kTexts = ['Where is the station?', 'Où est la gare ?'];
const kLong = 'I missed the train because of the snow. Can I pay by card? The weather is nice today.\n\n' +
  'I would like a cup of coffee, please. Good morning.';
const kSlow = 'I missed the train because of the snow that fell in the night over the whole north of the country, and so I ' +
  'could not come to the meeting of the board.\nThe weather is nice today, and the children play in the garden behind the house.';

// ---- models ----

// A small model of pictures with invented words, so that its captions are texts.
function makeEye() {
  const to = path.join(scratch, 'eye'), words = 222, end = '<|endoftext|>';
  fs.cpSync(path.join(data, 'models/vit-gpt2/model'), to, { recursive: true });
  const write = (name, json) => fs.writeFileSync(path.join(to, name), JSON.stringify(json));
  const vocabulary = Object.fromEntries(Array.from({ length: words }, (_, i) => [(i % 2 ? 'Ġ' : '') + 'w' + i, i]));
  const bytes = { type: 'ByteLevel', add_prefix_space: false, trim_offsets: true, use_regex: true };
  write('tokenizer.json', { version: '1.0', normalizer: null, pre_tokenizer: bytes, post_processor: null, decoder: bytes,
    added_tokens: [{ id: words, content: end, single_word: false, lstrip: false, rstrip: false, normalized: false, special: true }],
    model: { type: 'BPE', vocab: vocabulary, merges: [] } });
  write('tokenizer_config.json', { tokenizer_class: 'GPT2Tokenizer', bos_token: end, eos_token: end, unk_token: end });
  write('preprocessor_config.json', { image_processor_type: 'ViTImageProcessor', size: 32 });
  const file = path.join(to, 'generation_config.json');
  write('generation_config.json', { ...JSON.parse(fs.readFileSync(file)), min_length: 6, max_length: 9 });
  return to;
}

function makeEar() {
  const to = path.join(scratch, 'ear');
  fs.cpSync(path.join(data, 'models/whisper-long/model'), to, { recursive: true });
  for (const name of ['tokenizer.json', 'tokenizer_config.json'])
    fs.copyFileSync(path.join(data, 'ears', name), path.join(to, name));
  return to;
}

// The bundled model, which says that it goes the other way: its words make no sense then, its languages do.
function makeWayBack() {
  const to = path.join(scratch, 'back');
  fs.cpSync(bundled, to, { recursive: true });
  const file = path.join(to, 'tokenizer_config.json');
  const config = { ...JSON.parse(fs.readFileSync(file)), source_lang: 'fr', target_lang: 'en' };
  fs.writeFileSync(file, JSON.stringify(config));
  return to;
}

// ---- servers ----

const servers = [];
async function serve(...options) {
  const server = spawn(lapilli, ['serve', '--port', '0', '--quiet', ...options], { stdio: ['ignore', 'pipe', 'inherit'] });
  servers.push(server);
  for await (const line of server.stdout) return String(line).trim().split(' ').pop();
  throw new Error('the server did not start');
}

async function endServers() {
  const ends = servers.map((s) => new Promise((end) => s.on('exit', end)));
  for (const server of servers) server.kill('SIGTERM');
  for (const code of await Promise.all(ends)) assert.equal(code, 0, 'the end of a server');
}

// ---- the browser ----

let browser, wrong = [];
const widths = { 360: { width: 360, height: 740, isMobile: true, hasTouch: true, deviceScaleFactor: 2 }, 1280: { width: 1280, height: 900 } };

// Everything that a reader of the console would see counts, but for requests that the page itself takes back.
function watch(page, url) {
  page.on('console', (m) => ['error', 'warn', 'warning'].includes(m.type()) && wrong.push('console: ' + m.text()));
  page.on('pageerror', (e) => wrong.push('script: ' + e.message));
  page.on('requestfailed', (r) => r.failure().errorText !== 'net::ERR_ABORTED' && wrong.push('request: ' + r.url() + ' ' + r.failure().errorText));
  page.on('response', (r) => r.status() >= 400 && wrong.push('answer: ' + r.status() + ' ' + r.url()));
  page.on('request', (r) => {
    const to = new URL(r.url());
    if (to.protocol !== 'blob:' && to.origin !== new URL(url).origin) wrong.push('another host: ' + r.url());
  });
}

async function open(url, width, { dark = false, languages = 'en-US' } = {}) {
  const context = await browser.createBrowserContext();
  await context.overridePermissions(url, ['microphone', 'clipboard-read', 'clipboard-write']);
  const page = await context.newPage();
  page.setDefaultTimeout(kPatience);
  watch(page, url);
  await page.setViewport(widths[width]);
  await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: dark ? 'dark' : 'light' }]);
  await page.evaluateOnNewDocument((l) => Object.defineProperty(navigator, 'languages', { value: [l] }), languages);
  await page.goto(url + '/', { waitUntil: 'networkidle0' });
  return page;
}

const text = (page, selector) => page.$eval(selector, (e) => e.textContent);
const wait = (page, what, ...values) => page.waitForFunction(what, { polling: 50 }, ...values);
const shows = (page, selector, wanted) => wait(page, (s, w) => document.querySelector(s)?.textContent.includes(w), selector, wanted);

async function shoot(page, name) {
  if (shots) await page.screenshot({ path: path.join(shots, name + '.png') });
}

// Nothing sticks out, nothing is wrong, and axe finds nothing serious.
async function check(page, where) {
  const [wide, room] = await page.evaluate(() => [document.documentElement.scrollWidth, document.documentElement.clientWidth]);
  assert.ok(wide <= room, `${where}: the page is ${wide} pixels wide in ${room}`);
  await page.evaluate(axe);
  const found = await page.evaluate(() => axe.run(document, { resultTypes: ['violations'] }));
  const serious = found.violations.filter((v) => ['serious', 'critical'].includes(v.impact));
  assert.deepEqual(serious.map((v) => `${v.id}: ${v.nodes[0].html} ${v.nodes[0].failureSummary}`), [], where);
  assert.deepEqual(wrong, [], where);
}

async function write(page, what) {
  await page.$eval('#source', (e) => { e.value = ''; e.dispatchEvent(new Event('input')); });
  await page.type('#source', what, { delay: 5 });
}

async function choose(page, selector, value) {
  await page.select(selector, value);
}

const made = (page) => wait(page, () => !document.querySelector('#copy-button').hidden && !document.querySelector('#target').matches('.old, [aria-busy]'));

// ---- what is checked ----

async function typing(page) {
  let asked = 0;
  const count = (r) => r.url().endsWith('/v1/page/translate') && ++asked;
  page.on('request', count);
  await page.evaluate(() => {
    window.seen = [];
    new MutationObserver(() => window.seen.push(document.querySelector('#target').textContent))
      .observe(document.querySelector('#target'), { childList: true, characterData: true, subtree: true });
  });
  await write(page, kTexts[0]);
  await shows(page, '#target', kTexts[1]);
  await made(page);
  assert.ok(asked >= 1 && asked <= kTexts[0].length, `${asked} requests for ${kTexts[0].length} keys`);
  page.off('request', count);
}

// Words come before the whole, and none of them is taken back.
async function streaming(page, url) {
  await page.evaluate(() => (window.seen = []));
  await page.$eval('#source', (e, all) => { e.value = all; e.dispatchEvent(new Event('input')); }, kSlow);
  await made(page);
  const all = await text(page, '#target'), seen = await page.evaluate(() => window.seen);
  const before = seen.filter((s) => s && s.length < all.length);
  assert.ok(before.length >= 2, `${before.length} states before the whole`);
  const words = (s) => s.split(/\s+/).filter(Boolean);
  for (const some of before)
    for (const line of some.split('\n').filter((l) => l.trim()))
      assert.ok(all.includes(line.trim()), `"${line}" was taken back: "${all}"`);
  assert.ok(words(all).length > words(before[0]).length);
  const answer = await fetch(url + '/translate', { method: 'POST', headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ q: kSlow, source: 'en', target: 'fr' }) });
  assert.equal(all, (await answer.json()).translatedText, 'the page and /translate');
}

// A translation is taken back as soon as the next key comes, and when the reader leaves.
async function leaving(page, url) {
  const running = async () => Number(/^lapilli_jobs_running (\d+)/m.exec(await (await fetch(url + '/metrics')).text())[1]);
  const many = Array.from({ length: 300 }, (_, i) => `The ${i}th train to the north leaves at noon, and nobody waits for it.`).join('\n');
  await page.$eval('#source', (e, all) => { e.value = all; e.dispatchEvent(new Event('input')); }, many);
  const begin = Date.now();
  while ((await running()) === 0 && Date.now() - begin < kPatience) await new Promise((r) => setTimeout(r, 20));
  assert.equal(await running(), 1);
  await page.$eval('#source', (e) => { e.value = ''; e.dispatchEvent(new Event('input')); });
  const stop = Date.now();
  while ((await running()) > 0 && Date.now() - stop < 10000) await new Promise((r) => setTimeout(r, 20));
  assert.equal(await running(), 0, 'jobs 10 s after the reader typed on');
}

async function origins(page) {
  await write(page, kTexts[0]);
  await shows(page, '#target', kTexts[1]);
  await wait(page, () => document.querySelectorAll('#target .word').length >= 3);
  const word = await page.evaluateHandle(() => [...document.querySelectorAll('#target .word')].find((e) => e.textContent === 'gare'));
  await word.hover();
  assert.deepEqual(await page.$$eval('#echo mark', (all) => all.map((e) => e.textContent)), ['station']);
  await page.mouse.move(1, 1);
  await page.focus('#target');
  for (let i = 0; i < 20 && (await page.$$eval('#target .word.lit', (all) => all.map((e) => e.textContent).join())) !== 'gare'; ++i)
    await page.keyboard.press('ArrowRight');
  await shows(page, '#live', 'gare: comes from station');
  await page.focus('#source');
  await page.$eval('#source', (e) => { e.selectionStart = e.selectionEnd = e.value.indexOf('station') + 1; });
  await page.keyboard.press('ArrowRight');
  assert.deepEqual(await page.$$eval('#target .word.lit', (all) => all.map((e) => e.textContent)), ['gare']);
}

async function sentences(page, name) {
  await page.$eval('#source', (e, all) => { e.value = all; e.dispatchEvent(new Event('input')); }, kLong);
  await made(page);
  await wait(page, () => document.querySelectorAll('#target .sentence').length >= 5);
  await wait(page, () => document.querySelectorAll('#target .sentence:nth-of-type(2) .word').length > 0);
  const before = await text(page, '#target');
  await page.mouse.move(1, 1);
  await page.focus('#target');
  await page.keyboard.press('Enter');
  await wait(page, () => !document.querySelector('#closer').hidden && document.querySelectorAll('#alternatives button').length >= 2);
  assert.equal(await page.evaluate(() => document.activeElement.id), 'closer-title');
  assert.match(await text(page, '#closer-source'), /snow/);
  assert.match(await text(page, '#pairs'), /train → train/);
  await page.click('#attention summary');
  await wait(page, () => document.querySelector('#attention-image').naturalWidth > 100);
  await page.$eval('#closer', (e) => e.scrollIntoView());
  await shoot(page, name + '-sentence');
  await check(page, name + ': a sentence');
  const [other] = (await page.$$('#alternatives button')).slice(1);
  const wanted = await other.evaluate((e) => e.textContent);
  await other.click();
  const after = await text(page, '#target');
  assert.ok(after.startsWith(wanted) && after !== before, `"${wanted}" stands in "${after}"`);
  assert.equal(after.slice(wanted.length), before.slice(before.indexOf(after.slice(-40)) - (after.length - 40 - wanted.length)));
  await page.click('#closer-next');
  await shows(page, '#closer-source', 'card');
  await page.keyboard.press('Escape');
  await page.waitForSelector('#closer', { hidden: true });
}

async function swapping(page) {
  await choose(page, '#from', 'en');
  await choose(page, '#to', 'fr');
  await write(page, kTexts[0]);
  await shows(page, '#target', kTexts[1]);
  await made(page);
  await page.click('#swap-button');
  await made(page);
  const now = await page.evaluate(() => ['from', 'to', 'source'].map((id) => document.getElementById(id).value));
  assert.deepEqual(now, ['fr', 'en', kTexts[1]]);
  await page.click('#swap-button');
  await made(page);
}

// ---- files ----

const files = {
  'letter.txt': ['Good morning.\n', /^Bonjour\.\n$/],
  'letter.md': ['# Good morning.\n\n- **Where** is the station?\n', /^# Bonjour\.\n\n- .*\*\*.*gare/],
  'letter.html': ['<p>Good morning.</p><p>Where is the <b>station</b>?</p>', /<p>Bonjour\.<\/p><p>.*<b>gare/],
  'talk.srt': ['1\n00:00:01,000 --> 00:00:02,000\nGood morning.\n', /^1\n00:00:01,000 --> 00:00:02,000\nBonjour\.\n/],
  'talk.vtt': ['WEBVTT\n\n00:01.000 --> 00:02.000\nGood morning.\n', /^WEBVTT\n\n00:01.000 --> 00:02.000\nBonjour\.\n/],
};

const item = (page, name, has) => wait(page, (n, h) => [...document.querySelectorAll('#file-list li')].some((e) =>
  e.querySelector('.name').textContent === n && e.querySelector(h)), name, has);

async function contentOf(page, name) {
  await item(page, name, 'a[download]');
  return page.evaluate(async (n) => {
    const link = [...document.querySelectorAll('#file-list li')].find((e) => e.querySelector('.name').textContent === n).querySelector('a');
    // The policy lets scripts fetch from the server alone, so a frame's way is closed too: the link itself is followed.
    window.got = undefined;
    return [link.download, link.href];
  }, name);
}

// Follows the link of a file that came back, as a reader does.
async function download(page, name) {
  const [saved] = await contentOf(page, name);
  const folder = fs.mkdtempSync(path.join(scratch, 'saved-'));
  const session = await page.createCDPSession();
  await session.send('Browser.setDownloadBehavior', { behavior: 'allow', downloadPath: folder, browserContextId: page.browserContext().id });
  await page.evaluate((n) => [...document.querySelectorAll('#file-list li')].find((e) => e.querySelector('.name').textContent === n).querySelector('a').click(), name);
  const file = path.join(folder, saved);
  for (let i = 0; i < 200 && !fs.existsSync(file); ++i) await new Promise((r) => setTimeout(r, 50));
  return fs.readFileSync(file, 'utf8');
}

async function fileTests(page, name) {
  await choose(page, '#from', 'en');
  await choose(page, '#to', 'fr');
  const given = Object.entries(files).map(([n, [content]]) => {
    const file = path.join(scratch, n);
    fs.writeFileSync(file, content);
    return file;
  });
  const field = await page.$('#files');
  await field.uploadFile(...given, path.join(data, 'sounds/spoken.wav'), path.join(data, 'pictures/plain.png'), path.join(data, 'models/en.bin'));
  for (const [n, [, wanted]] of Object.entries(files)) assert.match(await download(page, n), wanted, n);
  for (const n of ['spoken.wav', 'plain.png']) assert.ok((await download(page, n)).trim(), n);
  await page.$eval('.files', (e) => e.scrollIntoView());
  await shoot(page, name + '-files');
  await check(page, name + ': files');
}

async function dropping(page) {
  await page.evaluate(() => {
    const data = new DataTransfer();
    data.items.add(new File(['Good morning.\n'], 'dropped.txt', { type: 'text/plain' }));
    const event = (kind) => document.body.dispatchEvent(new DragEvent(kind, { dataTransfer: data, bubbles: true, cancelable: true }));
    event('dragenter');
    if (document.querySelector('#drop').hidden) throw new Error('nothing says that files may be dropped');
    event('dragover');
    event('drop');
    if (!document.querySelector('#drop').hidden) throw new Error('it still says so');
  });
  assert.equal(await download(page, 'dropped.txt'), 'Bonjour.\n');
}

async function folder(page, name) {
  const field = await page.$('#folder-input');
  const pictures = path.join(scratch, 'pictures');
  fs.mkdirSync(pictures, { recursive: true });
  for (const n of ['plain.png', 'plain.jpg', 'grey.png', 'grey.jpg', 'cmyk.jpg']) fs.copyFileSync(path.join(data, 'pictures', n), path.join(pictures, n));
  await field.uploadFile(pictures);
  await shows(page, '#pictures-note', '5 of 5');
  const captions = await page.$$eval('#picture-list p', (all) => all.map((e) => e.textContent));
  assert.equal(captions.length, 5);
  for (const caption of captions) assert.match(caption, /w\d/);
  assert.ok(await page.$eval('#pictures-save', (e) => !e.hidden && e.href.startsWith('blob:')));
  await page.$eval('#pictures', (e) => e.scrollIntoView());
  await shoot(page, name + '-pictures');
  await check(page, name + ': pictures');
}

// Chromium plays a file as its microphone, again and again.
async function speech(page, name) {
  await page.$eval('#source', (e) => { e.value = ''; e.dispatchEvent(new Event('input')); });
  await page.$eval('#source', (e) => e.scrollIntoView());
  const pieces = [];
  const count = (r) => r.url().endsWith('/v1/audio/transcriptions') && pieces.push(r);
  page.on('request', count);
  await page.click('#record');
  await page.waitForSelector('#record[aria-pressed="true"]');
  await wait(page, () => document.querySelector('#source').value.trim() !== '');
  await shoot(page, name + '-speech');
  await page.click('#record');
  await page.waitForSelector('#record[aria-pressed="false"]');
  await wait(page, () => document.querySelector('#source-note').textContent === '');
  page.off('request', count);
  assert.ok(pieces.length >= 1, 'pieces were sent');
  await check(page, name + ': speech');
}

async function device(page, name, whole) {
  await page.click('#device-button');
  await page.waitForSelector('#device[open]');
  await shows(page, '#device-models', 'marian');
  assert.match(await text(page, '#device-facts'), /[GM]B/);
  await page.click('#doctor');
  await wait(page, () => /Examining: \S/.test(document.querySelector('#doctor-note').textContent));
  await check(page, name + ': an examination');
  if (whole) {
    await page.waitForFunction(() => !document.querySelector('#doctor-page').hidden, { timeout: 300000 });
    assert.match(await text(page, '#doctor-page'), /kernel/i);
  } else {
    await page.click('#doctor-stop');
    await shows(page, '#doctor-note', 'Stopped');
  }
  await shoot(page, name + '-device');
  await check(page, name + ': the device');
  await page.keyboard.press('Escape');
}

async function languagesOfPage(page, name) {
  for (const [code, wanted] of [['fr', 'Fichiers'], ['de', 'Dateien'], ['en', 'Files']]) {
    await choose(page, '#page-language', code);
    assert.equal(await text(page, '#files-title'), wanted);
    assert.equal(await page.$eval('html', (e) => e.lang), code);
    await page.evaluate(() => scrollTo(0, 0));
    await shoot(page, `${name}-${code}`);
    await check(page, name + ': in ' + code);
  }
}

// A server with the bundled model alone: nothing is broken, and the page says which command gets what is not there.
async function withoutModels(url, width) {
  const page = await open(url, width, { dark: true });
  const name = `${width}-alone`;
  if (await page.$('#from option[value="auto"]')) await choose(page, '#from', 'en');
  await typing(page);
  assert.equal(await page.$eval('#swap-button', (e) => e.getAttribute('aria-disabled')), 'true');
  await page.click('#record');
  await shows(page, '#source-note', 'lapilli fetch openai/whisper-tiny');
  const field = await page.$('#files');
  await field.uploadFile(path.join(data, 'sounds/spoken.wav'), path.join(data, 'pictures/plain.png'));
  await item(page, 'spoken.wav', 'code');
  await item(page, 'plain.png', 'code');
  await shoot(page, name);
  await check(page, name);
  await page.close();
}

async function withKey(url, width) {
  const page = await open(url, width);
  await page.waitForSelector('#key-form', { visible: true });
  await check(page, 'a key is asked for');
  await page.type('#key', 'sesame');
  await page.keyboard.press('Enter');
  await page.waitForSelector('#key-form', { hidden: true });
  if (await page.$('#from option[value="auto"]')) await choose(page, '#from', 'en');
  await typing(page);
  fs.writeFileSync(path.join(scratch, 'kept.txt'), 'Good morning.\n');
  await (await page.$('#files')).uploadFile(path.join(scratch, 'kept.txt'));
  assert.equal(await download(page, 'kept.txt'), 'Bonjour.\n');
  await check(page, 'with a key');
  await page.close();
}

async function withTexts(url, width) {
  const name = String(width);
  const page = await open(url, width);
  await shoot(page, name + '-empty');
  await check(page, name + ': empty');
  await choose(page, '#from', 'en');
  await typing(page);
  await shoot(page, name + '-translated');
  await check(page, name + ': translated');
  await streaming(page, url);
  await origins(page);
  await shoot(page, name + '-word');
  await sentences(page, name);
  await swapping(page);
  await leaving(page, url);
  if (await page.$('#from option[value="auto"]')) {
    await choose(page, '#from', 'auto');
    await typing(page);
    await shows(page, '#from', 'English');
  }
  await languagesOfPage(page, name);
  await page.close();
}

async function withOthers(url, width) {
  const name = String(width);
  const page = await open(url, width);
  await fileTests(page, name);
  await dropping(page);
  await folder(page, name);
  await speech(page, name);
  await device(page, name, width === 1280 && process.env.LAPILLI_PAGE_DOCTOR);
  await page.close();
}

async function dark(url, width) {
  const page = await open(url, width, { dark: true, languages: 'de-DE' });
  await choose(page, '#from', 'en');
  await write(page, kTexts[0]);
  await shows(page, '#target', kTexts[1]);
  await wait(page, () => document.querySelectorAll('#target .word').length >= 3);
  assert.equal(await text(page, '#files-title'), 'Dateien');
  await page.mouse.move(1, 1);
  await page.focus('#target');
  await page.keyboard.press('End');
  await shoot(page, `${width}-dark`);
  await check(page, `${width}: dark`);
  await page.close();
}

// The picture of docs/use/server.md, made when it is asked for (LAPILLI_PAGE_ONLY=manual).
async function manual(url) {
  const page = await open(url, 1280);
  await page.setViewport({ width: 1120, height: 640 });
  await choose(page, '#from', 'en');
  await choose(page, '#to', 'fr');
  await write(page, 'I missed the train because of the snow. Can I pay by card?\n\nWhere is the station?');
  await made(page);
  await wait(page, () => [...document.querySelectorAll('#target .word')].some((e) => e.textContent === 'gare'));
  const word = await page.evaluateHandle(() => [...document.querySelectorAll('#target .word')].find((e) => e.textContent === 'neige'));
  await page.evaluate(() => document.activeElement.blur());
  await word.hover();
  await new Promise((shown) => setTimeout(shown, 400));  // colours change slowly
  await shoot(page, 'server-page');
}

async function main() {
  if (shots) fs.mkdirSync(shots, { recursive: true });
  const keys = path.join(scratch, 'keys');
  fs.writeFileSync(keys, 'sesame\n');
  const ear = process.env.LAPILLI_PAGE_EAR ?? makeEar();
  const all = await serve('--model', bundled, '--model', 'back=' + makeWayBack(), '--model', 'ear=' + ear, '--model', 'eye=' + makeEye());
  const alone = await serve('--model', bundled);
  const locked = await serve('--model', bundled, '--keys', keys);
  browser = await puppeteer.launch({ executablePath: chromium, args: ['--no-sandbox', '--lang=en-US', '--use-fake-ui-for-media-stream',
    '--use-fake-device-for-media-stream', '--use-file-for-fake-audio-capture=' + path.join(data, 'sounds/spoken.wav')] });
  const only = process.env.LAPILLI_PAGE_ONLY ?? '';
  if (only === 'manual') return manual(all);
  for (const width of [360, 1280]) {
    for (const [test, url] of [[withTexts, all], [withOthers, all], [dark, all], [withoutModels, alone], [withKey, locked]]) {
      if (only && !`${test.name}${width}`.includes(only)) continue;
      await test(url, width);
      console.log(`${test.name} at ${width}: passed`);
    }
  }
}

let code = 0;
try {
  await main();
} catch (error) {
  console.log('FAILED: ' + (error.stack ?? error) + '\n' + wrong.join('\n'));
  code = 1;
}
await browser?.close();
try {
  await endServers();
} catch (error) {
  console.log('FAILED: ' + error.message);
  code = 1;
}
fs.rmSync(scratch, { recursive: true, force: true });
process.exit(code);
