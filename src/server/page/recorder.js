// Speech, written down while it is spoken: pieces of some five seconds, cut where it is quietest, go to the server in
// their order.
import { $, label, post, word } from './service.js';

const kRate = 16000;                    // of what is sent
const kPiece = 5, kSearch = 1.5;        // seconds of a piece; the end of it in which the cut is sought
const kWindow = 0.05;                   // seconds over which loudness is measured
const kSilence = 0.003;                 // loudness below which nobody speaks

let facts = { models: [] }, page = {};
let running = null;                     // {context, stream, rate, blocks, count}
let before = Promise.resolve();
let waiting = 0;

function note(text, bad = false) {
  $('source-note').textContent = text;
  $('source-note').classList.toggle('bad', bad);
}

const hears = () => facts.models.some((m) => m.input === 'sound' && m.tasks.includes('transcribe'));

// ---- pieces ----

function loudness(samples, begin, end) {
  let sum = 0;
  for (let i = begin; i < end; ++i) sum += samples[i] * samples[i];
  return Math.sqrt(sum / Math.max(1, end - begin));
}

// The place within the last seconds where it is quietest.
function quietest(samples, rate) {
  const window = Math.floor(kWindow * rate), first = Math.max(0, samples.length - Math.floor(kSearch * rate));
  let best = samples.length, least = Infinity;
  for (let at = first; at + window <= samples.length; at += window) {
    const loud = loudness(samples, at, at + window);
    if (loud > least) continue;
    least = loud;
    best = at + (window >> 1);
  }
  return best;
}

function joined(blocks, count) {
  const all = new Float32Array(count);
  let at = 0;
  for (const block of blocks) {
    all.set(block, at);
    at += block.length;
  }
  return all;
}

async function resampled(samples, rate) {
  if (rate === kRate) return samples;
  const context = new OfflineAudioContext(1, Math.max(1, Math.round(samples.length * kRate / rate)), kRate);
  const buffer = context.createBuffer(1, samples.length, rate);
  buffer.copyToChannel(samples, 0);
  const from = context.createBufferSource();
  from.buffer = buffer;
  from.connect(context.destination);
  from.start();
  return (await context.startRendering()).getChannelData(0);
}

// A WAV file of 16-bit samples.
function wav(samples) {
  const view = new DataView(new ArrayBuffer(44 + 2 * samples.length));
  const text = (at, letters) => [...letters].forEach((l, i) => view.setUint8(at + i, l.charCodeAt(0)));
  text(0, 'RIFF');
  view.setUint32(4, 36 + 2 * samples.length, true);
  text(8, 'WAVEfmt ');
  view.setUint32(16, 16, true);
  view.setUint16(20, 1, true);
  view.setUint16(22, 1, true);
  view.setUint32(24, kRate, true);
  view.setUint32(28, 2 * kRate, true);
  view.setUint16(32, 2, true);
  view.setUint16(34, 16, true);
  text(36, 'data');
  view.setUint32(40, 2 * samples.length, true);
  samples.forEach((s, i) => view.setInt16(44 + 2 * i, Math.max(-1, Math.min(1, s)) * 32767, true));
  return new File([view], 'speech.wav', { type: 'audio/wav' });
}

async function write(samples, rate) {
  const form = new FormData();
  form.append('file', wav(await resampled(samples, rate)));
  form.append('response_format', 'json');
  const { text } = await (await post('/v1/audio/transcriptions', form)).json();
  if (text.trim()) page.append(text.trim());
}

function send(samples, rate) {
  if (loudness(samples, 0, samples.length) < kSilence) return;
  ++waiting;
  before = before.then(() => write(samples, rate)).catch((error) => note(error.message, true)).then(() => {
    --waiting;
    if (!running && waiting === 0 && !$('source-note').classList.contains('bad')) note('');
  });
}

function hear(block) {
  running.blocks.push(block);
  running.count += block.length;
  if (running.count < kPiece * running.rate) return;
  const all = joined(running.blocks, running.count), cut = quietest(all, running.rate);
  running.blocks = [all.slice(cut)];
  running.count = all.length - cut;
  send(all.slice(0, cut), running.rate);
}

// ---- the microphone ----

function show(on) {
  $('record').setAttribute('aria-pressed', String(on));
  label($('record'), on ? 'recordStop' : 'record');
}

async function start() {
  const stream = await navigator.mediaDevices.getUserMedia({ audio: { channelCount: 1 } });
  const context = new AudioContext();
  await context.audioWorklet.addModule('/page/recorder-worklet.js');
  const tap = new AudioWorkletNode(context, 'tap', { numberOfOutputs: 0, channelCount: 1, channelCountMode: 'explicit' });
  tap.port.onmessage = (e) => running && hear(e.data);
  running = { context, stream, rate: context.sampleRate, blocks: [], count: 0 };
  context.createMediaStreamSource(stream).connect(tap);
  show(true);
  note(word('listening'));
}

function stop() {
  const { context, stream, blocks, count, rate } = running;
  running = null;
  for (const track of stream.getTracks()) track.stop();
  context.close();
  show(false);
  if (count > 0) send(joined(blocks, count), rate);
  note(waiting > 0 ? word('writing') : '');
}

function advise() {
  note(word('noModelSound') + ' lapilli fetch openai/whisper-tiny');
}

async function toggle() {
  if (running) return stop();
  if (!hears()) return advise();
  if (!navigator.mediaDevices?.getUserMedia) return note(word('noMicrophone', { why: word('noMicrophoneHere') }), true);
  try {
    await start();
  } catch (error) {
    note(word('noMicrophone', { why: error.message }), true);
  }
}

export function startRecorder(given, to) {
  facts = given;
  page = to;
  $('record').addEventListener('click', toggle);
}
