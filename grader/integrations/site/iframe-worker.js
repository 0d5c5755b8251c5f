// Browsers start no Worker for a page that was opened from a disk. There the search runs in a hidden frame instead.
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(url) {
      super();
      const frame = document.createElement("iframe");
      frame.hidden = true;
      frame.title = "search";
      document.body.append(frame);
      const inside = (this.inside = frame.contentWindow);
      const load = address => new Promise((done, failed) => {
        const script = inside.document.createElement("script");
        Object.assign(script, {src: new URL(address, document.baseURI).href, onload: done, onerror: failed});
        inside.document.head.append(script);
      });
      inside.postMessage = data => {
        const message = new MessageEvent("message", {data});
        this.dispatchEvent(message);
        if (this.onmessage) this.onmessage(message);
      };
      inside.importScripts = (...addresses) =>
        addresses.reduce((before, address) => before.then(() => load(address)), Promise.resolve());
      this.ready = load(url);
    }
    postMessage(data) {
      this.ready.then(() => this.inside.dispatchEvent(new MessageEvent("message", {data})));
    }
    terminate() {
      this.inside.frameElement.remove();
    }
  };
}
