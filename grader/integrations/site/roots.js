// Chromium keeps room for its widest root sign, so that a gap follows √h. This takes the gap away where there is one.
{
  const close = () => {
    for (const root of document.querySelectorAll("msqrt:not([data-closed])")) {
      const [whole, last] = [root, root.lastElementChild].map((one) => one.getBoundingClientRect());
      if (!whole.width) continue; // folded
      root.dataset.closed = "";
      if (whole.right - last.right > 2) root.style.marginRight = `${last.right + 1 - whole.right}px`;
    }
  };
  document.fonts.ready.then(close);
  document.addEventListener("toggle", close, true);
}
