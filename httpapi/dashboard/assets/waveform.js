"use strict";
// Draws the sound of a recording over its player once it is played: the caller
// above, the agent below. A click goes there.
(() => {
  const audio = document.querySelector("audio"), canvas = document.getElementById("waveform");
  if (!audio || !canvas) return;
  const largest = 64 << 20, height = 96;
  const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  let sound;

  const draw = () => {
    const width = Math.max(280, audio.clientWidth), scale = devicePixelRatio || 1;
    canvas.width = width * scale;
    canvas.height = height * scale;
    const c = canvas.getContext("2d");
    c.scale(scale, scale);
    const sides = Math.min(2, sound.numberOfChannels), room = height / sides;
    for (let side = 0; side < sides; side++) {
      const samples = sound.getChannelData(side), each = samples.length / width;
      c.fillStyle = colour(side ? "--link" : "--good");
      for (let x = 0; x < width; x++) {
        let peak = 0;
        for (let i = Math.floor(x * each); i < (x + 1) * each && i < samples.length; i++) peak = Math.max(peak, Math.abs(samples[i]));
        const tall = Math.max(1, peak * room * 0.95);
        c.fillRect(x, side * room + (room - tall) / 2, 1, tall);
      }
    }
    c.fillStyle = colour("--bad");
    c.fillRect((audio.currentTime / sound.duration) * width, 0, 2, height);
  };

  const load = async () => {
    const answer = await fetch(audio.currentSrc || audio.src);
    if (!answer.ok || Number(answer.headers.get("Content-Length")) > largest) return;
    sound = await new OfflineAudioContext(1, 1, 8000).decodeAudioData(await answer.arrayBuffer());
    canvas.hidden = false;
    canvas.setAttribute("role", "img");
    canvas.setAttribute("aria-label", "The sound of the recording, the caller above, the agent below");
    draw();
    audio.addEventListener("timeupdate", draw);
    addEventListener("resize", draw);
    canvas.addEventListener("click", (e) => (audio.currentTime = (e.offsetX / canvas.clientWidth) * sound.duration));
  };
  audio.addEventListener("play", () => load().catch(() => {}), { once: true }); // the player goes on without the picture
})();
