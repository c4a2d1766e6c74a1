// The page /talk and, loaded once more, its sound worklet: microphone and
// loudspeaker over one WebSocket of 8 kHz µ-law.
'use strict';

const RATE = 8000;
const FRAME = 160; // 20 ms

// G.711 µ-law.
function encode(x) {
  let n = Math.max(-32635, Math.min(32635, Math.round(x * 32767)));
  const sign = n < 0 ? 0x80 : 0;
  n = Math.abs(n) + 132;
  let exponent = 7;
  for (let mask = 0x4000; exponent > 0 && !(n & mask); mask >>= 1) exponent--;
  return ~(sign | (exponent << 4) | ((n >> (exponent + 3)) & 0x0f)) & 0xff;
}

function decode(b) {
  b = ~b & 0xff;
  const n = ((((b & 0x0f) << 3) + 132) << ((b >> 4) & 7)) - 132;
  return (b & 0x80 ? -n : n) / 32768;
}

if (typeof registerProcessor === 'function') {
  registerProcessor('telephone', class extends AudioWorkletProcessor {
    constructor() {
      super();
      this.step = sampleRate / RATE;
      this.at = 0; // into the next sample that is sent
      this.sum = 0;
      this.count = 0;
      this.frame = new Uint8Array(FRAME);
      this.n = 0;
      this.heard = []; // samples at RATE that are still to be played
      this.place = 0;
      this.playing = false;
      this.port.onmessage = (e) => {
        for (const b of e.data) this.heard.push(decode(b));
        const most = RATE; // a second that came late is enough
        if (this.heard.length > most) this.heard.splice(0, this.heard.length - most);
      };
    }

    process(inputs, outputs) {
      const mic = inputs[0][0];
      if (mic) {
        for (const x of mic) { // the mean over each sample's time: a plain filter against what 8 kHz cannot hold
          this.sum += x;
          this.count++;
          if (++this.at >= this.step) {
            this.at -= this.step;
            this.frame[this.n++] = encode(this.sum / this.count);
            this.sum = this.count = 0;
            if (this.n === FRAME) {
              this.port.postMessage(this.frame.slice());
              this.n = 0;
            }
          }
        }
      }
      const out = outputs[0][0];
      if (!this.playing && this.heard.length >= 4 * FRAME) this.playing = true;
      for (let i = 0; i < out.length; i++) {
        const k = Math.floor(this.place);
        if (!this.playing || k + 1 >= this.heard.length) {
          this.playing = this.playing && k + 1 < this.heard.length;
          out[i] = 0;
          continue;
        }
        const part = this.place - k;
        out[i] = this.heard[k] * (1 - part) + this.heard[k + 1] * part;
        this.place += 1 / this.step;
      }
      const used = Math.min(Math.floor(this.place), this.heard.length);
      this.heard.splice(0, used);
      this.place -= used;
      return true;
    }
  });
} else {
  const $ = (id) => document.getElementById(id);
  let socket = null;
  let context = null;
  let microphone = null;

  const say = (text) => { $('state').textContent = text; };

  function over(text) {
    say(text);
    $('end').disabled = true;
    $('keys').hidden = true;
    if (socket) socket.close();
    if (microphone) for (const t of microphone.getTracks()) t.stop();
    if (context) context.close();
    socket = context = microphone = null;
  }

  function wrote(segment) {
    const id = 's' + Number(segment.index);
    let line = $(id);
    if (!line) {
      line = document.createElement('li');
      line.id = id;
      $('transcript').append(line);
    }
    line.textContent = segment.speaker + ': ' + segment.text + (segment.interrupted ? ' …' : '');
  }

  async function start() {
    $('start').disabled = true;
    const path = location.hash.slice(1);
    if (!/^\/v1\/agents\/[\w]+\/talk\?/.test(path)) {
      say('The address of this page lacks its ticket.');
      return;
    }
    history.replaceState(null, '', location.pathname); // a ticket opens once
    try {
      microphone = await navigator.mediaDevices.getUserMedia({audio: {channelCount: 1, echoCancellation: true, noiseSuppression: true}});
    } catch (e) {
      over('There is no microphone that this page may use.');
      return;
    }
    context = new AudioContext();
    await context.audioWorklet.addModule('/talk.js');
    await context.resume();
    const telephone = new AudioWorkletNode(context, 'telephone', {outputChannelCount: [1]});
    context.createMediaStreamSource(microphone).connect(telephone).connect(context.destination);
    const url = new URL(path, location.href);
    url.protocol = location.protocol === 'https:' ? 'wss:' : 'ws:';
    socket = new WebSocket(url);
    socket.binaryType = 'arraybuffer';
    say('Calling …');
    telephone.port.onmessage = (e) => {
      if (socket && socket.readyState === WebSocket.OPEN && socket.bufferedAmount < 8000) socket.send(e.data);
    };
    socket.onmessage = (e) => {
      if (typeof e.data !== 'string') {
        telephone.port.postMessage(new Uint8Array(e.data));
        return;
      }
      const note = JSON.parse(e.data);
      switch (note.type) {
        case 'hello':
          $('call').textContent = note.call_id;
          $('end').disabled = false;
          $('keys').hidden = false;
          break;
        case 'state':
          say('In the call');
          break;
        case 'transcript':
          wrote(note.segment);
          break;
        case 'dtmf':
          say('The agent pressed ' + note.digits);
          break;
        case 'ended':
          over('The call is over');
      }
    };
    socket.onclose = () => { if (socket) over('The call is over: the connection was closed'); };
  }

  $('start').addEventListener('click', () => { start().catch((e) => over('It cannot be: ' + e.message)); });
  $('end').addEventListener('click', () => { if (socket) socket.send('{"type":"hangup"}'); });
  for (const key of document.querySelectorAll('#keys button')) {
    key.addEventListener('click', () => { if (socket) socket.send(JSON.stringify({type: 'dtmf', digits: key.textContent})); });
  }
}
