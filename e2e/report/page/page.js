'use strict';
(() => {
  const search = document.getElementById('search');
  const found = document.getElementById('found');
  const chips = [...document.querySelectorAll('.chip')];
  const specs = [...document.querySelectorAll('.spec')];
  const failures = [...document.querySelectorAll('.failure')];
  const suites = [...document.querySelectorAll('.suite')];

  // What is written in the search box, and the chips that are pressed, select specs.
  const select = () => {
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    const verdicts = chips.filter(c => c.getAttribute('aria-pressed') === 'true').map(c => c.dataset.verdict);
    const all = !words.length && !verdicts.length;
    const match = e => words.every(w => e.dataset.text.includes(w)) &&
      (!verdicts.length || verdicts.includes(e.dataset.verdict));
    for (const e of [...specs, ...failures]) e.hidden = !match(e);
    for (const s of suites) {
      const some = s.querySelectorAll('.spec:not([hidden])').length;
      s.hidden = !some;
      if (!all) s.open = some > 0;
    }
    const n = specs.filter(s => !s.hidden).length;
    found.value = all ? '' : `${n} of ${specs.length} specs`;
  };
  search.addEventListener('input', select);
  for (const c of chips) c.addEventListener('click', () => {
    c.setAttribute('aria-pressed', c.getAttribute('aria-pressed') !== 'true');
    select();
  });

  const clear = () => {
    search.value = '';
    for (const c of chips) c.setAttribute('aria-pressed', false);
    for (const s of suites) s.open = false;
    select();
  };

  // step moves the focus to the next failure, or the previous one.
  const step = by => {
    const shown = failures.filter(f => !f.hidden);
    if (!shown.length) return;
    const at = shown.indexOf(document.activeElement);
    const next = shown[at < 0 ? (by > 0 ? 0 : shown.length - 1) : (at + by + shown.length) % shown.length];
    next.focus({preventScroll: true});
    next.scrollIntoView({block: 'start'});
  };
  document.addEventListener('keydown', e => {
    if (e.ctrlKey || e.metaKey || e.altKey) return;
    if (e.key === 'Escape') { clear(); search.blur(); return; }
    if (e.target.matches('input')) return;
    if (e.key === '/') { e.preventDefault(); search.focus(); }
    if (e.key === 'n') step(1);
    if (e.key === 'p') step(-1);
  });

  // A link to a spec opens its suite and itself.
  const open = () => {
    const spec = location.hash.length > 1 && document.getElementById(location.hash.slice(1));
    if (!spec || !spec.matches('.spec')) return;
    clear();
    spec.closest('.suite').open = true;
    spec.querySelector('details').open = true;
    spec.scrollIntoView({block: 'center'});
  };
  addEventListener('hashchange', open);
  open();

  for (const b of document.querySelectorAll('.copy')) b.addEventListener('click', async () => {
    const text = b.previousElementSibling;
    try {
      await navigator.clipboard.writeText(text.textContent);
      b.textContent = 'Copied';
    } catch { // a page from disk may not write to the clipboard
      getSelection().selectAllChildren(text);
    }
  });
})();
