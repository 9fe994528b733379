// The search, and what only a server has. Pages work without it.
(() => {
  'use strict';
  const box = document.querySelector('.search');
  const query = document.getElementById('query');
  const found = document.getElementById('found');
  box.hidden = false;
  // On a wide screen the list of pages is open.
  if (matchMedia('(min-width: 901px)').matches) {
    document.querySelector('nav.pages details').open = true;
  }
  if (location.pathname.includes('/docs/handbook/')) {
    document.querySelectorAll('.server').forEach((link) => { link.hidden = false; });
  }

  let words; // word → numbers of places
  const load = () => {
    if (document.getElementById('index')) return;
    const script = document.createElement('script');
    script.id = 'index';
    script.src = 'search-index.js';
    script.onload = () => {
      words = window.handbookIndex.words.trim().split('\n').map((line) => {
        const [word, ...steps] = line.split(' ');
        let number = 0;
        return [word, steps.map((step) => (number += parseInt(step, 36)))];
      });
      show();
    };
    document.head.append(script);
  };

  // Words that say nothing about a page.
  const common = new Set(('a an and are as at be by can do does for from have how i if in into is it my of on or our so than that the ' +
    'then there this to was we what when where which who why will with you').split(' '));

  // quality is how well a word answers one that was asked for: 0 not at all. The end of a long word may differ: rotation finds rotate.
  const quality = (word, ask) => {
    if (word.startsWith(ask)) return word === ask ? 2 : 1;
    return ask.length > 5 && word.startsWith(ask.slice(0, -3)) ? 0.5 : 0;
  };

  // search returns the places that have most of the words, best first: whole words and titles count more, decisions and changes less.
  const search = (text) => {
    let asked = text.toLowerCase().match(/[\p{L}\p{N}]+(?:[-_.][\p{L}\p{N}]+)*/gu) || [];
    if (asked.some((ask) => !common.has(ask))) asked = asked.filter((ask) => !common.has(ask));
    const scores = new Map(); // place → [words found, score]
    for (const ask of asked) {
      const here = new Map();
      for (const [word, numbers] of words) {
        const good = quality(word, ask);
        if (good) for (const number of numbers) here.set(number, Math.max(here.get(number) || 0, good));
      }
      for (const [number, good] of here) {
        const [found, score] = scores.get(number) || [0, 0];
        const [address, title] = window.handbookIndex.places[number];
        const inTitle = title.toLowerCase().includes(ask) || title.toLowerCase().split(/[^\p{L}\p{N}]+/u).some((word) => quality(word, ask));
        scores.set(number, [found + 1, score + good + (inTitle ? 3 : 0) - (/^(adr-|adr\/|changelog)/.test(address) ? 2 : 0)]);
      }
    }
    const most = Math.max(...[...scores.values()].map(([found]) => found));
    return [...scores].filter(([, [found]]) => found === most).sort((a, b) => b[1][1] - a[1][1] || a[0] - b[0]).slice(0, 30)
      .map(([number]) => window.handbookIndex.places[number]);
  };

  const show = () => {
    const text = query.value.trim();
    found.hidden = text.length < 2 || !words;
    if (found.hidden) return;
    found.replaceChildren(...search(text).map(([address, title]) => {
      const link = document.createElement('a');
      link.href = address;
      link.textContent = title;
      const item = document.createElement('li');
      item.append(link);
      return item;
    }));
    if (!found.firstChild) found.textContent = 'Nothing found.';
  };

  query.addEventListener('focus', load);
  query.addEventListener('input', show);
  document.addEventListener('keydown', (event) => {
    if (event.key === '/' && !event.target.closest('input')) {
      event.preventDefault();
      query.focus();
    }
    if (event.key === 'Escape') found.hidden = true;
    if (event.key === 'Enter' && event.target === query) found.querySelector('a')?.click();
  });
  document.addEventListener('click', (event) => {
    if (!box.contains(event.target)) found.hidden = true;
    else if (event.target.closest('#found a')) found.hidden = true;
  });
})();
