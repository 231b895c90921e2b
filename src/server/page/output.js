// The translation on the page: its sentences and words, and the words of the text that they come from.
import { $, element, say, word } from './service.js';

const target = $('target'), echo = $('echo'), source = $('source');

let text = '', original = '';  // the whole texts, in whose units the places are
let sentences = [];            // {source: [begin, end], target: [begin, end], links: [{source, target, weight}]}
let words = [];                // elements in the order of the text
let current = -1;              // the word that the arrow keys have reached
let opened = -1;
let onOpen = () => {};

export const state = () => ({ text, original, sentences });
export const whenOpened = (then) => (onOpen = then);

// ---- while it is made ----

export function showOld() {
  target.classList.add('old');
}

// `lines`: the words so far of each line of the text.
export function showMaking(from, lines) {
  forget();
  text = from.split('\n').map((line, i) => lines[i] ?? (line.trim() ? '' : line)).join('\n').trimEnd();
  target.textContent = text;
  target.classList.remove('old');
  target.classList.add('making');
  target.setAttribute('aria-busy', 'true');
}

export function showWhole(from, to, spans) {
  forget();
  original = from;
  text = to;
  sentences = spans.map(([a, b, c, d]) => ({ source: [a, b], target: [c, d], links: [] }));
  draw();
}

export function addLinks(links) {
  for (const [a, b, c, d, weight] of links) {
    const sentence = sentences.find((s) => c >= s.target[0] && d <= s.target[1]);
    sentence?.links.push({ source: [a, b], target: [c, d], weight });
  }
  draw();
}

export function endMaking() {
  target.classList.remove('making', 'old');
  target.removeAttribute('aria-busy');
}

export function forget() {
  text = original = '';
  sentences = [];
  words = [];
  current = opened = -1;
  target.textContent = '';
  endMaking();
  light([], []);
}

// ---- drawing ----

// The links of each word of the translation, in its order.
function byWord(sentence) {
  const found = new Map();
  for (const link of sentence.links) {
    const list = found.get(link.target[0]) ?? [];
    list.push(link);
    found.set(link.target[0], list);
  }
  return [...found.entries()].sort((a, b) => a[0] - b[0]).map(([, links]) => links);
}

function wordElement(links, sentence) {
  const e = element('span', { class: 'word' }, text.slice(...links[0].target));
  words.push({ e, links, sentence });
  return e;
}

function sentenceElement(sentence, number) {
  const e = element('span', { class: 'sentence' });
  let at = sentence.target[0];
  for (const links of byWord(sentence)) {
    const [begin, end] = links[0].target;
    if (begin < at || end <= begin) continue;
    e.append(text.slice(at, begin), wordElement(links, number));
    at = end;
  }
  e.append(text.slice(at, sentence.target[1]));
  e.classList.toggle('open', number === opened);
  return e;
}

function draw() {
  words = [];
  const all = [];
  let at = 0;
  sentences.forEach((sentence, number) => {
    all.push(text.slice(at, sentence.target[0]), sentenceElement(sentence, number));
    at = sentence.target[1];
  });
  target.replaceChildren(...all, text.slice(at));
}

// Another wording of a sentence; the words of it are linked no more.
export function replaceSentence(number, made) {
  const [begin, end] = sentences[number].target;
  const more = made.length - (end - begin);
  const shift = (range) => range.map((place) => place + more);
  text = text.slice(0, begin) + made + text.slice(end);
  sentences[number].target = [begin, begin + made.length];
  sentences[number].links = [];
  for (const later of sentences.slice(number + 1)) {
    later.target = shift(later.target);
    for (const link of later.links) link.target = shift(link.target);
  }
  current = -1;
  light([], []);
  draw();
}

export function markSentence(number) {
  opened = number;
  [...target.querySelectorAll('.sentence')].forEach((e, i) => e.classList.toggle('open', i === number));
}

// ---- what belongs together ----

function light(lit, ranges) {
  for (const one of words) one.e.classList.toggle('lit', lit.includes(one));
  const all = source.value, pieces = [];
  let at = 0;
  for (const [begin, end] of [...ranges].sort((a, b) => a[0] - b[0])) {
    if (begin < at) continue;
    pieces.push(all.slice(at, begin), element('mark', {}, all.slice(begin, end)));
    at = end;
  }
  // A line at the end that is empty has height in a field for text, and in no other element.
  echo.replaceChildren(...pieces, all.slice(at) + (all.endsWith('\n') || !all ? ' ' : ''));
}

export const echoText = () => light([], []);

function lightWord(one) {
  light([one], one.links.map((l) => l.source));
}

const sourceOf = (one) => one.links.map((l) => original.slice(...l.source)).join(' ');

// Lights the words that come from the word at this place of the text.
export function lightFromSource(place) {
  const at = ([begin, end]) => place >= begin && place < end;
  const lit = words.filter((one) => one.links.some((l) => at(l.source)));
  const ranges = lit.flatMap((one) => one.links.map((l) => l.source).filter(at));
  light(lit, ranges);
}

export function pairsOf(number) {
  return byWord(sentences[number]).map((links) => ({
    target: text.slice(...links[0].target),
    source: links.map((l) => original.slice(...l.source)).join(' '),
  })).filter((pair) => /[\p{L}\p{N}]/u.test(pair.target));
}

// ---- pointer and keys ----

const wordOf = (e) => words.find((one) => one.e === e.closest?.('.word'));

target.addEventListener('pointerover', (e) => {
  const one = wordOf(e.target);
  if (one) lightWord(one);
});
target.addEventListener('pointerleave', () => light([], []));
target.addEventListener('click', (e) => {
  if (!getSelection().isCollapsed) return;
  const number = [...target.querySelectorAll('.sentence')].indexOf(e.target.closest?.('.sentence'));
  if (number >= 0) onOpen(number);
});

function go(to) {
  current = Math.max(0, Math.min(words.length - 1, to));
  const one = words[current];
  lightWord(one);
  one.e.scrollIntoView({ block: 'nearest' });
  say(word('comesFrom', { target: one.e.textContent, source: sourceOf(one) }));
}

const steps = { ArrowRight: (n) => n + 1, ArrowLeft: (n) => n - 1, Home: () => 0, End: () => words.length - 1 };

target.addEventListener('keydown', (e) => {
  if (e.ctrlKey || e.metaKey || e.altKey) return;
  if (e.key === 'Escape') return light([], []);
  if (e.key === 'Enter' && sentences.length > 0) onOpen(words[current]?.sentence ?? 0);
  else if (e.key in steps && words.length > 0) go(steps[e.key](current));
  else return;
  e.preventDefault();
});
target.addEventListener('blur', () => light([], []));

// The caret of the text, and the pointer over it where the browser tells the place under it.
source.addEventListener('keyup', (e) => e.key.startsWith('Arrow') && lightFromSource(source.selectionStart));
source.addEventListener('click', () => lightFromSource(source.selectionStart));
source.addEventListener('pointermove', (e) => {
  const place = document.caretPositionFromPoint?.(e.clientX, e.clientY);
  if (place?.offsetNode === source) lightFromSource(place.offset);
});
source.addEventListener('pointerleave', () => light([], []));
