"use strict";
// Draws the waveform of a recording once it is played: the caller above, the agent below. A click plays from there.
const wave = () => {
  const audio = document.querySelector("audio"), canvas = document.getElementById("waveform");
  if (!audio || !canvas || audio.dataset.drawn) return;
  audio.dataset.drawn = "yes";
  const largest = 64 << 20, height = 96;
  const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  let sides = [], seconds = 0, picture;

  // peaks returns the highest sample of each of n intervals.
  const peaks = (samples, n) => {
    const each = samples.length / n;
    return Float32Array.from({ length: n }, (_, x) => {
      let peak = 0;
      for (let i = Math.floor(x * each); i < (x + 1) * each && i < samples.length; i++) peak = Math.max(peak, Math.abs(samples[i]));
      return peak;
    });
  };

  // paint draws the waveform into a picture, over which draw puts the position.
  const paint = () => {
    const width = Math.floor(Math.max(280, audio.clientWidth)), scale = devicePixelRatio || 1, room = height / sides.length;
    picture = document.createElement("canvas");
    canvas.width = picture.width = Math.floor(width * scale);
    canvas.height = picture.height = Math.floor(height * scale);
    const c = picture.getContext("2d");
    c.scale(scale, scale);
    sides.forEach((all, side) => {
      c.fillStyle = colour(side ? "--bar4" : "--bar1");
      for (let x = 0; x < width; x++) {
        let peak = 0; // of the stretches that fall on this column
        for (let i = Math.floor((x * all.length) / width); i < Math.max((x * all.length) / width + 1, ((x + 1) * all.length) / width) && i < all.length; i++) peak = Math.max(peak, all[i]);
        const tall = Math.max(1, peak * room * 0.95);
        c.fillRect(x, side * room + (room - tall) / 2, 1, tall);
      }
    });
    draw();
  };
  const draw = () => {
    const c = canvas.getContext("2d");
    c.clearRect(0, 0, canvas.width, canvas.height);
    c.drawImage(picture, 0, 0);
    c.fillStyle = colour("--bar3");
    c.fillRect((audio.currentTime / seconds) * canvas.width, 0, 2 * (devicePixelRatio || 1), canvas.height);
  };

  const load = async () => {
    const answer = await fetch(audio.currentSrc || audio.src);
    if (!answer.ok || Number(answer.headers.get("Content-Length")) > largest) return;
    const sound = await new OfflineAudioContext(1, 1, 8000).decodeAudioData(await answer.arrayBuffer());
    seconds = sound.duration;
    for (let side = 0; side < Math.min(2, sound.numberOfChannels); side++) sides.push(peaks(sound.getChannelData(side), 2000)); // the samples are read once and let go
    canvas.hidden = false;
    canvas.setAttribute("role", "img");
    canvas.setAttribute("aria-label", "Waveform of the recording, the caller above, the agent below");
    paint();
    audio.addEventListener("timeupdate", draw);
    addEventListener("resize", paint);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", paint);
    canvas.addEventListener("click", (e) => (audio.currentTime = (e.offsetX / canvas.clientWidth) * seconds));
  };
  audio.addEventListener("play", () => load().catch(() => {}), { once: true }); // the player goes on without the picture
};
wave();
document.addEventListener("htmx:afterSwap", wave); // of a call that was watched to its end
