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

  // search returns the places that have all words, best first: whole words and titles count more.
  const search = (text) => {
    const asked = text.toLowerCase().match(/[\p{L}\p{N}]+(?:[-_.][\p{L}\p{N}]+)*/gu) || [];
    let scores;
    for (const ask of asked) {
      const here = new Map();
      for (const [word, numbers] of words) {
        if (!word.startsWith(ask)) continue;
        for (const number of numbers) here.set(number, Math.max(here.get(number) || 0, word === ask ? 2 : 1));
      }
      for (const [number, score] of here) {
        if (scores && !scores.has(number)) { here.delete(number); continue; }
        const title = window.handbookIndex.places[number][1].toLowerCase();
        here.set(number, score + (title.includes(ask) ? 3 : 0) + (scores ? scores.get(number) : 0));
      }
      scores = here;
    }
    return [...(scores || [])].sort((a, b) => b[1] - a[1] || a[0] - b[0]).slice(0, 30).map(([number]) => window.handbookIndex.places[number]);
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
