// On a static page: draws a figure in its place while the page is read, so that nothing below it moves later.

export function host(figure, script) {
  const place = script.closest("figure");
  const data = place.querySelector('script[type="application/json"]').textContent;
  const values = { data: JSON.parse(data) };
  const model = { get: (name) => values[name], set() {}, save_changes() {}, on() {}, off() {} };
  figure.render({ model, el: place.querySelector(".kata-live") });
}
