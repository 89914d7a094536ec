/* Browsers start no workers for pages that are opened from disk; a hidden frame does the work of the search instead. */
"use strict";
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(url) {
      super();
      const frame = document.createElement("iframe");
      frame.hidden = true;
      document.body.append(frame);
      const inside = frame.contentWindow;
      this.waiting = [];
      this.send = inside.postMessage.bind(inside);
      // What the worker posts goes out; a frame would send it to itself.
      inside.postMessage = (data) => this.dispatchEvent(new MessageEvent("message", { data }));
      inside.importScripts = (...urls) => Promise.all(urls.map((one) => this.load(inside, one)));
      this.load(inside, url).then(() => {
        for (const message of this.waiting) this.send(message, "*");
        this.waiting = null;
      });
    }

    load(inside, url) {
      return new Promise((done, failed) => {
        const script = inside.document.createElement("script");
        script.src = new URL(url, document.baseURI).href;
        script.onload = done;
        script.onerror = failed;
        inside.document.body.append(script);
      });
    }

    postMessage(message) {
      if (this.waiting) this.waiting.push(message);
      else this.send(message, "*");
    }
  };
}
