"use strict";
// Plays what is said in a live call. The ticket in the page opens it once.
(() => {
  const button = document.getElementById("listen"), state = document.getElementById("state");
  const say = (text) => (state.textContent = text);
  button.hidden = false;
  say("Press the button within a minute.");
  button.addEventListener("click", async () => {
    button.disabled = true;
    const context = new AudioContext();
    await context.audioWorklet.addModule("/talk.js");
    const node = new AudioWorkletNode(context, "telephone");
    node.connect(context.destination);
    const ws = new WebSocket(location.origin.replace(/^http/, "ws") + button.dataset.path);
    ws.binaryType = "arraybuffer";
    ws.onopen = () => say("You hear the call.");
    ws.onmessage = (e) => {
      if (typeof e.data !== "string") node.port.postMessage(new Uint8Array(e.data));
      else if (JSON.parse(e.data).type === "ended") say("The call is over.");
    };
    ws.onclose = (e) => {
      if (e.code !== 1000) say("The sound has ended. Go back to the call and listen anew.");
      context.close();
    };
  });
})();
