// Files that are dropped or chosen, and come back translated, written down or described; folders of pictures.
import { $, element, label, post, shape, word } from './service.js';

const kSounds = ['wav', 'mp3', 'flac', 'ogg', 'oga', 'opus', 'm4a', 'aac', 'mp4', 'webm', 'mkv', 'mov', 'aif', 'aiff', 'au', 'caf'];
const kPictures = ['png', 'jpg', 'jpeg', 'webp', 'tif', 'tiff', 'bmp', 'gif', 'ppm', 'pgm'];
const kShown = ['png', 'jpg', 'jpeg', 'webp', 'bmp', 'gif'];  // by browsers
const kAtOnce = 4;                                            // pictures of a request

let facts = { models: [], documents: {} }, languages = {};

const ending = (name) => name.slice(name.lastIndexOf('.') + 1).toLowerCase();
const can = (input) => facts.models.some((m) => m.input === input);

function kindOf(file) {
  const end = ending(file.name);
  if (end in facts.documents) return 'document';
  if (kSounds.includes(end) || file.type.startsWith('audio/')) return 'sound';
  if (kPictures.includes(end) || file.type.startsWith('image/')) return 'picture';
  return 'unknown';
}

function form(fields) {
  const all = new FormData();
  for (const [name, value] of Object.entries(fields)) all.append(name, value);
  return all;
}

const renamed = (name, more, end = ending(name)) => name.slice(0, name.lastIndexOf('.')) + more + '.' + end;

// ---- an item of the list ----

class Item {
  constructor(file) {
    this.file = file;
    this.stop = new AbortController();
    this.says = element('p', { class: 'says', role: 'status' }, word('waiting'));
    this.actions = element('span', { class: 'actions' });
    const away = element('button', { class: 'icon', type: 'button', onclick: () => this.remove() }, shape('cross'));
    label(away, 'remove', { name: file.name });
    this.actions.append(away);
    this.e = element('li', {}, element('span', { class: 'name' }, file.name), this.actions, this.says);
    $('file-list').prepend(this.e);
  }
  say(text, ink = false) {
    this.says.textContent = text;
    this.says.classList.toggle('ink', ink);
  }
  give(blob, name) {
    this.address = URL.createObjectURL(blob);
    this.actions.prepend(element('a', { class: 'button', href: this.address, download: name, 'aria-label': word('save') + ': ' + name }, word('save')));
  }
  advise(text, command) {
    this.says.replaceChildren(text, element('code', { class: 'command' }, command));
  }
  remove() {
    this.stop.abort();
    if (this.address) URL.revokeObjectURL(this.address);
    this.e.remove();
  }
}

// ---- the kinds ----

async function translateFile(item) {
  const from = languages.from(), to = languages.to();
  if (!from || !to) return item.say(word('noLanguage'));
  const answer = await post('/translate_file', form({ file: item.file, source: from, target: to }), item.stop.signal);
  // Its address is that by which the server was asked, maybe through a proxy; the page's own way is the path.
  const url = new URL((await answer.json()).translatedFileUrl);
  const bytes = await (await fetch(url.pathname, { signal: item.stop.signal })).arrayBuffer();
  item.say(word('done'));
  item.give(new Blob([bytes], { type: facts.documents[ending(item.file.name)] }), renamed(item.file.name, '_' + to));
}

async function transcribeFile(item) {
  if (!can('sound')) return item.advise(word('noModelSound'), 'lapilli fetch openai/whisper-tiny');
  const format = $('sound-format').value;
  const answer = await post('/v1/audio/transcriptions', form({ file: item.file, response_format: format }), item.stop.signal);
  const text = await answer.text();
  item.say(text.trim(), true);
  item.give(new Blob([text], { type: 'text/plain' }), renamed(item.file.name, '', format === 'text' ? 'txt' : format));
}

const answerText = (one) => one.error ?? one.text ?? one.classes.map((c) => `${c.label} ${Math.round(100 * c.probability)} %`).join(', ');

async function describeFile(item) {
  if (!can('picture')) return item.advise(word('noModelPicture'), 'lapilli fetch nlpconnect/vit-gpt2-image-captioning');
  const answer = await post('/v1/pictures', form({ file: item.file }), item.stop.signal);
  const text = answerText((await answer.json()).pictures[0]);
  item.say(text, true);
  item.give(new Blob([text + '\n'], { type: 'text/plain' }), renamed(item.file.name, '', 'txt'));
}

const kinds = { document: translateFile, sound: transcribeFile, picture: describeFile, unknown: (item) => item.say(word('unknownFile')) };

let before = Promise.resolve();
// One after another: the server has other readers.
function add(file) {
  const item = new Item(file);
  before = before.then(() => run(item));
}

async function run(item) {
  if (item.stop.signal.aborted) return;
  item.say(word('working'));
  try {
    await kinds[kindOf(item.file)](item);
  } catch (error) {
    if (error.name !== 'AbortError') item.say(error.message);
  }
}

// ---- folders of pictures ----

let table = '';

function picture(file) {
  const shown = kShown.includes(ending(file.name));
  const image = shown ? element('img', { src: URL.createObjectURL(file), alt: '' }) : element('span', { class: 'blank' }, word('noPreview'));
  if (shown) image.addEventListener('load', () => URL.revokeObjectURL(image.src), { once: true });
  const says = element('p', {}, word('waiting'));
  const e = element('li', {}, image, says, element('span', { class: 'name' }, file.name));
  $('picture-list').append(e);
  return { file, says };
}

async function describe(some) {
  const all = new FormData();
  for (const one of some) all.append('file', one.file);
  for (const one of some) one.says.textContent = word('working');
  const found = await (await post('/v1/pictures', all)).json();
  some.forEach((one, i) => {
    one.says.textContent = answerText(found.pictures[i]);
    table += one.file.name + '\t' + one.says.textContent.replace(/\s+/g, ' ') + '\n';
  });
}

function showTable() {
  const save = $('pictures-save');
  if (save.href) URL.revokeObjectURL(save.href);
  save.href = URL.createObjectURL(new Blob([table], { type: 'text/tab-separated-values' }));
  save.hidden = false;
}

async function addFolder(files) {
  const pictures = files.filter((f) => kindOf(f) === 'picture').sort((a, b) => a.name.localeCompare(b.name));
  const note = $('pictures-note');
  $('pictures').hidden = false;
  $('picture-list').replaceChildren();
  $('pictures-save').hidden = true;
  table = '';
  if (pictures.length === 0) return (note.textContent = word('noPictures'));
  if (!can('picture'))
    return note.replaceChildren(word('noModelPicture'), element('code', { class: 'command' }, 'lapilli fetch nlpconnect/vit-gpt2-image-captioning'));
  const all = pictures.map(picture);
  for (let done = 0; done < all.length; done += kAtOnce) {
    note.textContent = word('picturesDone', { done, count: all.length });
    try {
      await describe(all.slice(done, done + kAtOnce));
    } catch (error) {
      return (note.textContent = error.message);
    }
  }
  note.textContent = word('picturesDone', { done: all.length, count: all.length });
  showTable();
}

// ---- dropping ----

function filesIn(entry) {
  if (entry.isFile) return new Promise((found) => entry.file((f) => found([f]), () => found([])));
  const reader = entry.createReader();
  const read = () => new Promise((found) => reader.readEntries(found, () => found([])));
  return (async () => {
    const all = [];
    for (let some = await read(); some.length > 0; some = await read())
      for (const one of some) if (one.isFile) all.push(...(await filesIn(one)));
    return all;
  })();
}

async function dropped(data) {
  // The list is emptied as soon as this function waits.
  const entries = [...data.items].filter((i) => i.kind === 'file').map((i) => i.webkitGetAsEntry?.());
  const plain = [...data.files];
  for (const [i, entry] of entries.entries()) {
    if (entry?.isDirectory) await addFolder(await filesIn(entry));
    else if (plain[i]) add(plain[i]);
  }
}

const bringsFiles = (e) => [...(e.dataTransfer?.types ?? [])].includes('Files');

function connectDrop() {
  let inside = 0;
  const show = (by) => ($('drop').hidden = (inside = Math.max(0, inside + by)) === 0);
  addEventListener('dragenter', (e) => bringsFiles(e) && show(1));
  addEventListener('dragleave', (e) => bringsFiles(e) && show(-1));
  addEventListener('dragover', (e) => bringsFiles(e) && e.preventDefault());
  addEventListener('drop', (e) => {
    if (!bringsFiles(e)) return;
    e.preventDefault();
    show(-inside);
    dropped(e.dataTransfer);
  });
}

export function startFiles(given, chosen) {
  facts = given;
  languages = chosen;
  $('sound-as').hidden = !can('sound');
  $('files').addEventListener('change', () => {
    for (const file of $('files').files) add(file);
    $('files').value = '';
  });
  $('folder-input').addEventListener('change', () => {
    const files = [...$('folder-input').files];
    $('folder-input').value = '';
    addFolder(files);
  });
  connectDrop();
}
