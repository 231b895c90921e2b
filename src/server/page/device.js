// The device, its models and its health.
import { $, bytesText, element, events, get, theKey, word } from './service.js';

let facts = null, connected = false, examination = null;

function fact(name, value) {
  return value ? [element('dt', {}, word(name)), element('dd', {}, value)] : [];
}

function memoryText(memory) {
  const total = memory.limit || memory.total;
  return total ? word('memoryOf', { held: bytesText(memory.held), total: bytesText(total) }) : bytesText(memory.held);
}

function show(device) {
  const silent = !device.alive, driver = device.driver.trim();
  $('device-dot').className = 'dot ' + (silent ? 'bad' : 'good');
  $('device-name').textContent = device.name || word('device');
  $('device-says').textContent = silent ? word('deviceSilent') : word(device.type === 'cpu' ? 'deviceCpu' : 'deviceGpu', { driver });
  $('device-facts').replaceChildren(
    ...fact('deviceName', device.name),
    ...fact('memoryHeld', memoryText(device.memory)),
    ...fact('memoryWeights', bytesText(device.memory.weights)),
    ...fact('memoryPeak', bytesText(device.memory.peak)),
    ...fact('version', facts.version));
  $('device-models').replaceChildren(...device.models.map((model) => element('li', {},
    element('span', {}, model.name + ' (' + model.family + ')'),
    element('span', {}, word(model.loaded ? 'modelLoaded' : 'modelNotLoaded', { size: bytesText(model.bytes) })))));
}

async function refresh() {
  if (facts.keys && !theKey()) return;
  try {
    show(await get('/v1/page/device'));
  } catch {
    $('device-dot').className = 'dot bad';
  }
}

// ---- its health ----

function examining(on) {
  $('doctor').hidden = on;
  $('doctor-stop').hidden = !on;
}

function showPage(d) {
  $('doctor-note').textContent = word(d.healthy ? 'healthy' : 'unhealthy');
  $('doctor-page').textContent = d.text;
  $('doctor-page').hidden = false;
}

async function examine() {
  examination = new AbortController();
  examining(true);
  $('doctor-page').hidden = true;
  $('doctor-note').textContent = word('looking');
  try {
    for await (const [name, d] of events('/v1/page/doctor', {}, examination.signal)) {
      if (name === 'progress') $('doctor-note').textContent = word('examining', { part: d.part });
      if (name === 'page') showPage(d);
    }
  } catch (error) {
    $('doctor-note').textContent = error.name === 'AbortError' ? word('stopped') : error.message;
  }
  examining(false);
}

function connect() {
  $('device-button').addEventListener('click', async () => {
    await refresh();
    $('device').showModal();
  });
  $('device-close').addEventListener('click', () => $('device').close());
  $('device').addEventListener('click', (e) => e.target === $('device') && $('device').close());
  $('doctor').addEventListener('click', examine);
  $('doctor-stop').addEventListener('click', () => examination?.abort());
}

// Also when the page's language has changed.
export function startDevice(given) {
  facts = given;
  if (!connected) connect();
  connected = true;
  refresh();
}
