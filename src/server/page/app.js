// The page: a text and its translation, which begins while one types.
import { $, Refused, element, events, get, keep, kept, label, languageName, loadWords, pageLanguage, post, say, setKey, setLanguage,
  theKey, word } from './service.js';
import * as output from './output.js';
import { startDevice } from './device.js';
import { startFiles } from './files.js';
import { startRecorder } from './recorder.js';

const source = $('source'), from = $('from'), to = $('to');
const kPause = 220;           // ms without a key, after which a translation begins
const kMostSpoken = 600;      // characters of a translation that is read aloud at once
const kAlternatives = 4;

let facts = { languages: [], models: [], limits: {} };
let running = null;           // the AbortController of the translation that is being made
let finished = null;          // the one whose words' links still come
let timer = 0;
let detected = '';            // the language of the last text, where it was detected

// ---- languages ----

const known = (code) => facts.languages.find((l) => l.code === code);
const nameOf = (code) => languageName(code, known(code)?.name);
const sources = () => facts.languages.filter((l) => l.targets.length > 0);

function targetsOf(code) {
  if (code !== 'auto') return known(code)?.targets ?? [];
  return [...new Set(facts.languages.flatMap((l) => l.targets))].sort();
}

function fill(select, codes, chosen) {
  const options = codes.map((code) => {
    const option = element('option', { value: code }, code === 'auto' ? word('auto') : nameOf(code));
    if (code !== 'auto') option.lang = pageLanguage();
    return option;
  });
  select.replaceChildren(...options);
  select.value = codes.includes(chosen) ? chosen : codes[0] ?? '';
}

function fillLanguages() {
  const codes = sources().map((l) => l.code);
  const chosen = from.value || kept('from') || (facts.detects ? 'auto' : codes.includes('en') ? 'en' : codes[0]);
  fill(from, facts.detects ? ['auto', ...codes] : codes, chosen);
  fillTargets(to.value || kept('to') || pageLanguage());
}

function fillTargets(chosen) {
  fill(to, targetsOf(from.value), chosen);
  languagesChanged();
}

function languagesChanged() {
  keep('from', from.value);
  keep('to', to.value);
  source.lang = from.value === 'auto' ? detected : from.value;
  $('target').lang = to.value;
  const auto = [...from.options].find((o) => o.value === 'auto');
  if (auto) auto.textContent = detected ? word('detected', { language: nameOf(detected) }) : word('auto');
  showSwap();
}

const actual = () => (from.value === 'auto' ? detected : from.value);

function canSwap() {
  return Boolean(actual() && known(to.value)?.targets.includes(actual()));
}

function showSwap() {
  const can = canSwap() || !actual();
  $('swap-button').setAttribute('aria-disabled', String(!canSwap()));
  label($('swap-button'), can ? 'swap' : 'noSwap', { from: nameOf(actual()), to: nameOf(to.value) });
}

function swap() {
  if (!canSwap()) return say($('swap-button').title);
  const other = actual(), text = output.state().text;
  from.value = to.value;
  fillTargets(other);
  if (text) source.value = text;
  typed(0);
}

// ---- translating ----

function note(text, bad = false) {
  $('target-note').textContent = text;
  $('target-note').classList.toggle('bad', bad);
}

function tooLong() {
  const most = facts.limits.characters || facts.limits.bytes / 4;
  return Math.max(0, [...source.value].length - most);
}

function showCount() {
  const over = source.value ? tooLong() : 0;
  $('count').textContent = over ? word('tooLong', { count: over }) : source.value ? String([...source.value].length) : '';
  $('count').classList.toggle('bad', over > 0);
  $('clear').hidden = !source.value;
}

function showTools() {
  const made = Boolean(output.state().text) && !running;
  $('copy-button').hidden = !made;
  $('look-button').hidden = !made || output.state().sentences.length === 0;
}

function typed(pause = kPause) {
  running?.abort();
  finished?.abort();
  running = finished = null;
  clearTimeout(timer);
  output.echoText();
  closeSentence();
  showCount();
  note('');
  if (!source.value.trim() || tooLong()) {
    output.forget();
    return showTools();
  }
  output.showOld();
  showTools();
  timer = setTimeout(translate, pause);
}

function wordsFor(error) {
  if (error instanceof Refused) return error.status === 401 || error.status === 403 ? word('keyMissing') : error.message;
  return word('noAnswer');
}

async function translate() {
  if (!to.value) return;
  if (facts.keys && !theKey()) return note(word('keyMissing'), true);
  const mine = (running = new AbortController());
  const text = source.value;
  try {
    await hear(text, mine);
  } catch (error) {
    if (mine !== running) return;
    running = null;
    output.endMaking();
    showTools();
    if (error instanceof Refused && error.wait > 0) return wait(error.wait);
    note(wordsFor(error), true);
  }
}

function wait(seconds) {
  note(word('busy'));
  timer = setTimeout(translate, 1000 * seconds);
}

async function hear(text, mine) {
  const question = { text, source: from.value, target: to.value, links: true };
  const lines = [];
  const heard = {
    languages: (d) => showLanguages(d),
    text: (d) => {
      lines[d.line] = (lines[d.line] ?? '') + d.text;
      output.showMaking(text, lines);
    },
    whole: (d) => showWhole(text, d),
    links: (d) => output.addLinks(d.links),
    error: (d) => {
      throw new Refused(d.status, d.error, 0);
    },
  };
  for await (const [name, data] of events('/v1/page/translate', question, mine.signal)) {
    if (mine !== running && mine !== finished) return;
    heard[name]?.(data);
  }
}

function showLanguages(d) {
  detected = from.value === 'auto' ? d.source : '';
  languagesChanged();
  if (d.same) note(word('same', { language: nameOf(d.target) }));
  else if (d.between) note(word('through', { language: nameOf(d.between) }));
}

function showWhole(text, d) {
  finished = running;
  running = null;
  output.showWhole(text, d.text, d.sentences);
  showTools();
  say(d.text.slice(0, kMostSpoken));
}

// ---- a sentence ----

let number = -1, shown = '';  // the sentence that is open, and the address of its picture

function closeSentence() {
  $('closer').hidden = true;
  $('look-button').setAttribute('aria-expanded', 'false');
  if (number >= 0) output.markSentence(-1);
  number = -1;
}

function openSentence(to, focus = true) {
  const { original, sentences } = output.state();
  if (!sentences[to]) return;
  number = to;
  output.markSentence(to);
  $('closer').hidden = false;
  $('look-button').setAttribute('aria-expanded', 'true');
  $('closer-source').textContent = original.slice(...sentences[to].source);
  $('closer-source').lang = actual();
  $('closer-number').textContent = word('sentenceOf', { number: to + 1, count: sentences.length });
  $('closer-back').setAttribute('aria-disabled', String(to === 0));
  $('closer-next').setAttribute('aria-disabled', String(to + 1 === sentences.length));
  showPairs();
  $('attention').open = false;
  showAlternatives();
  if (focus) $('closer-title').focus({ preventScroll: true });
  if (focus) $('closer').scrollIntoView({ block: 'nearest' });
}

function showPairs() {
  const pairs = output.pairsOf(number);
  $('pairs-part').hidden = pairs.length === 0;
  $('pairs').replaceChildren(...pairs.map((p) => element('li', {}, element('span', { lang: actual() }, p.source), ' → ',
    element('b', { lang: to.value }, p.target))));
}

const sentenceText = (which) => output.state().original.slice(...output.state().sentences[which].source).trim();
const sentenceMade = (which) => output.state().text.slice(...output.state().sentences[which].target);

function wayOfSentence() {
  return { text: sentenceText(number), source: actual(), target: to.value };
}

async function showAlternatives() {
  const mine = number, list = $('alternatives');
  list.replaceChildren();
  $('alternatives-note').textContent = word('looking');
  try {
    for await (const [name, data] of events('/v1/page/translate', { ...wayOfSentence(), alternatives: kAlternatives })) {
      if (mine !== number) return;
      if (name === 'whole') listAlternatives([data.text, ...data.alternatives]);
      if (name === 'error') throw new Refused(data.status, data.error, 0);
    }
  } catch (error) {
    if (mine === number) $('alternatives-note').textContent = wordsFor(error);
  }
}

function listAlternatives(found) {
  const now = sentenceMade(number).trim();
  const all = [...new Set([now, ...found])];
  $('alternatives-note').textContent = all.length > 1 ? '' : word('noAlternatives');
  $('alternatives').replaceChildren(...all.map((text) => element('li', {},
    element('button', { type: 'button', lang: to.value, 'aria-pressed': String(text === now), onclick: () => choose(text) }, text))));
}

function choose(text) {
  output.replaceSentence(number, text);
  output.markSentence(number);
  for (const button of $('alternatives').querySelectorAll('button'))
    button.setAttribute('aria-pressed', String(button.textContent === text));
  showPairs();
}

async function showAttention() {
  if (!$('attention').open) return;
  $('attention-sheet').hidden = true;
  $('attention-note').textContent = word('looking');
  const mine = number, way = wayOfSentence();
  try {
    const blob = await (await post('/v1/page/attention', way)).blob();
    if (mine !== number) return;
    if (shown) URL.revokeObjectURL(shown);
    shown = URL.createObjectURL(blob);
    $('attention-image').src = shown;
    $('attention-image').alt = word('attentionOf', { source: way.text, target: sentenceMade(number) });
    $('attention-sheet').hidden = false;
    $('attention-note').textContent = '';
  } catch (error) {
    if (mine === number) $('attention-note').textContent = wordsFor(error);
  }
}

// ---- start ----

function connectTranslation() {
  source.addEventListener('input', () => typed());
  from.addEventListener('change', () => {
    detected = '';
    fillTargets(to.value);
    typed(0);
  });
  to.addEventListener('change', () => {
    languagesChanged();
    typed(0);
  });
  $('swap-button').addEventListener('click', swap);
  $('clear').addEventListener('click', () => {
    source.value = '';
    typed(0);
    source.focus();
  });
  $('copy-button').addEventListener('click', async () => {
    await navigator.clipboard?.writeText(output.state().text).then(() => note(word('copied')), () => {});
  });
}

function connectSentence() {
  output.whenOpened(openSentence);
  $('look-button').addEventListener('click', () => (number < 0 ? openSentence(0) : closeSentence()));
  const step = (by) => () => openSentence(number + by, false);
  $('closer-back').addEventListener('click', step(-1));
  $('closer-next').addEventListener('click', step(1));
  const leave = () => {
    closeSentence();
    $('look-button').focus();
  };
  $('closer-close').addEventListener('click', leave);
  $('closer').addEventListener('keydown', (e) => e.key === 'Escape' && leave());
  $('attention').addEventListener('toggle', showAttention);
}

function connectKey() {
  $('key-form').hidden = !facts.keys || Boolean(theKey());
  $('key-form').addEventListener('submit', (e) => {
    e.preventDefault();
    setKey($('key').value.trim());
    $('key-form').hidden = Boolean(theKey());
    startDevice(facts);
    typed(0);
  });
}

function changeLanguage() {
  keep('page-language', $('page-language').value);
  setLanguage($('page-language').value);
  fillLanguages();
  closeSentence();
  startDevice(facts);
}

// Text that was spoken goes behind what stands there.
function append(text) {
  const joint = source.value && !/\s$/.test(source.value) ? ' ' : '';
  source.value += joint + text;
  typed(0);
}

async function start() {
  await loadWords();
  $('page-language').value = pageLanguage();
  $('page-language').addEventListener('change', changeLanguage);
  connectTranslation();
  connectSentence();
  try {
    facts = await get('/v1/page/facts');
  } catch (error) {
    note(wordsFor(error), true);
  }
  fillLanguages();
  connectKey();
  startDevice(facts);
  startFiles(facts, { from: () => actual() || from.value, to: () => to.value });
  startRecorder(facts, { append, language: () => (from.value === 'auto' ? '' : from.value) });
  if (facts.languages.length === 0) note(word('noTranslation') + ' lapilli fetch Helsinki-NLP/opus-mt-en-fr', true);
  source.disabled = false;
  typed(0);
}

start();
