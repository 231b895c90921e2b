// Requests to the server, and the page's words.

export const $ = (id) => document.getElementById(id);

// ---- words ----

let all = {}, language = 'en';

export async function loadWords() {
  all = await (await fetch('/page/words.json')).json();
  const wanted = [kept('page-language'), ...navigator.languages.map((l) => l.slice(0, 2)), 'en'];
  setLanguage(wanted.find((l) => l in all));
}

export function setLanguage(to) {
  language = to;
  document.documentElement.lang = to;
  for (const e of document.querySelectorAll('[data-word]')) e.textContent = word(e.dataset.word);
  for (const e of document.querySelectorAll('[data-hint]')) e.placeholder = word(e.dataset.hint);
  for (const e of document.querySelectorAll('[data-label]')) label(e, e.dataset.label);
}

export const pageLanguage = () => language;

// A text with {name} replaced by the value of this name.
export function word(name, values = {}) {
  return (all[language][name] ?? all.en[name] ?? name).replace(/\{(\w+)\}/g, (_, key) => values[key] ?? '');
}

// The name that a control has for everyone: read aloud, and shown when hovered.
export function label(element, name, values) {
  element.dataset.label = name;
  element.setAttribute('aria-label', word(name, values));
  if (element.tagName === 'BUTTON') element.title = word(name, values);
}

export function languageName(code, fallback) {
  try {
    const name = new Intl.DisplayNames([language], { type: 'language' }).of(code);
    return name === code ? fallback ?? code : name[0].toLocaleUpperCase(language) + name.slice(1);
  } catch {
    return fallback ?? code;
  }
}

export function bytesText(bytes) {
  const unit = bytes >= 1 << 30 ? 'gigabyte' : 'megabyte';
  const number = bytes / (unit === 'gigabyte' ? 1 << 30 : 1 << 20);
  const digits = number < 10 ? 1 : 0;
  return new Intl.NumberFormat(language, { style: 'unit', unit, maximumFractionDigits: digits }).format(number);
}

let spoken;
// Tells screen readers; the last of quick successors alone.
export function say(text) {
  clearTimeout(spoken);
  spoken = setTimeout(() => ($('live').textContent = text), 150);
}

// ---- what a browser keeps for the page, where it may ----

export function kept(name) {
  try {
    return localStorage.getItem('lapilli-' + name);
  } catch {
    return null;
  }
}
export function keep(name, value) {
  try {
    localStorage.setItem('lapilli-' + name, value);
  } catch { /* a private window: the page works without */ }
}

// ---- requests ----

let key = '';
try {
  key = sessionStorage.getItem('lapilli-key') ?? '';
} catch { /* as above */ }

export const theKey = () => key;
export function setKey(to) {
  key = to;
  try {
    sessionStorage.setItem('lapilli-key', to);
  } catch { /* as above */ }
}

export class Refused extends Error {
  constructor(status, message, wait) {
    super(message);
    this.status = status;
    this.wait = wait;  // seconds after which it may be asked again
  }
}

// Errors of all protocols: {"error": text} or {"error": {"message": text}}.
async function refusal(response) {
  let why = response.statusText;
  try {
    const { error, message } = await response.json();
    why = error?.message ?? error ?? message ?? why;
  } catch { /* not JSON */ }
  return new Refused(response.status, why, Number(response.headers.get('retry-after')) || 0);
}

async function ask(path, options = {}) {
  const headers = { ...options.headers };
  if (key) headers.Authorization = 'Bearer ' + key;
  const response = await fetch(path, { ...options, headers, referrerPolicy: 'no-referrer' });
  if (!response.ok) throw await refusal(response);
  return response;
}

export const get = async (path) => (await ask(path)).json();

export function post(path, body, signal) {
  const form = body instanceof FormData;
  if (form && key) body.append('api_key', key);
  return ask(path, {
    method: 'POST',
    body: form ? body : JSON.stringify(body),
    headers: form ? {} : { 'Content-Type': 'application/json' },
    signal,
  });
}

// The events of an answer: pairs of a name and its data.
export async function* events(path, body, signal) {
  const response = await post(path, body, signal);
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = '';
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    const whole = (rest + value).split('\n\n');
    rest = whole.pop();
    for (const event of whole) yield read(event);
  }
}

function read(event) {
  let name = 'message', data = '';
  for (const line of event.split('\n')) {
    if (line.startsWith('event: ')) name = line.slice(7);
    if (line.startsWith('data: ')) data += line.slice(6);
  }
  return [name, JSON.parse(data || 'null')];
}

export function element(name, attributes = {}, ...children) {
  const e = document.createElement(name);
  for (const [k, v] of Object.entries(attributes)) {
    if (k === 'class') e.className = v;
    else if (k.startsWith('on')) e.addEventListener(k.slice(2), v);
    else e.setAttribute(k, v);
  }
  e.append(...children.filter((c) => c != null));
  return e;
}

const svgSpace = document.querySelector('svg').namespaceURI;

export function shape(name) {
  const svg = document.createElementNS(svgSpace, 'svg');
  const use = document.createElementNS(svgSpace, 'use');
  svg.setAttribute('aria-hidden', 'true');
  use.setAttribute('href', '#' + name);
  svg.append(use);
  return svg;
}
