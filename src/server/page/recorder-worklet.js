// Hands the microphone's samples to the page, a tenth of a second at a time.
class Tap extends AudioWorkletProcessor {
  constructor() {
    super();
    this.block = new Float32Array(Math.round(sampleRate / 10));
    this.at = 0;
  }
  process([[samples]]) {
    for (const sample of samples ?? []) {
      this.block[this.at++] = sample;
      if (this.at < this.block.length) continue;
      this.port.postMessage(this.block.slice());
      this.at = 0;
    }
    return true;
  }
}
registerProcessor('tap', Tap);
