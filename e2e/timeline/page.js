'use strict';
(async () => {
  const $ = id => document.getElementById(id);

  // The data: base64, gzip, JSON.
  const bytes = Uint8Array.from(atob($('data').textContent), c => c.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip'));
  const runs = await new Response(stream).json();

  // Objects at a moment. versionAt returns the index of an object's version after an event; -1: it isn't there yet.
  const versionAt = (object, event) => {
    let low = 0, high = object.versions.length;
    while (low < high) {
      const mid = (low + high) >> 1;
      if (object.versions[mid].event <= event) low = mid + 1; else high = mid;
    }
    return low - 1;
  };
  const merge = (target, patch) => { // RFC 7386
    if (patch === null || typeof patch !== 'object' || Array.isArray(patch)) return patch;
    const out = target && typeof target === 'object' && !Array.isArray(target) ? {...target} : {};
    for (const [k, v] of Object.entries(patch)) {
      if (v === null) delete out[k]; else out[k] = merge(out[k], v);
    }
    return out;
  };
  const content = (object, version) => {
    let value;
    for (let i = 0; i <= version; i++) value = merge(value, object.versions[i].patch);
    return value;
  };

  // YAML, as lines with the paths of their values.
  const plain = /^[A-Za-z_\/.][\w \/.@:+-]*$/;
  const scalar = v => typeof v === 'string' && plain.test(v) && !/^(true|false|null|yes|no)$|: |:$| $/i.test(v) ? v : JSON.stringify(v);
  const yaml = (value, path = '', indent = '', lines = []) => {
    const entry = (head, v, at) => {
      const empty = v && typeof v === 'object' && !Object.keys(v).length;
      if (v === null || typeof v !== 'object' || empty) {
        lines.push({text: `${indent}${head} ${empty ? (Array.isArray(v) ? '[]' : '{}') : scalar(v)}`, path: at});
      } else if (Array.isArray(value) && !Array.isArray(v)) { // the first line of an item begins with its dash
        const inner = yaml(v, at, indent + '  ', []);
        inner[0].text = `${indent}- ${inner[0].text.trimStart()}`;
        lines.push(...inner);
      } else {
        lines.push({text: `${indent}${head}`, path: at});
        yaml(v, at, indent + '  ', lines);
      }
    };
    if (Array.isArray(value)) value.forEach((v, i) => entry('-', v, `${path}[${i}]`));
    else for (const [k, v] of Object.entries(value)) entry(`${k}:`, v, `${path}.${k}`);
    return lines;
  };

  const lineKind = note => /^(WARN|ERROR) /.test(note.text) ? 'warning' : 'line'; // of a log; a call that was refused warns

  // Rows: the lanes of all runs, under headings if there are two.
  const rows = [];
  runs.forEach((run, r) => {
    if (runs.length > 1) rows.push({run: r, kind: 'Group', name: run.title, object: -1, depth: 0});
    for (const lane of run.lanes || []) rows.push({run: r, ...lane});
    const logs = Map.groupBy(run.logs || [], n => n.source);
    for (const [name, notes] of logs) rows.push({run: r, kind: 'Log', name, object: -1, depth: 0, marks: notes.map(n => ({...n, kind: lineKind(n), event: -1}))});
  });
  const laneOf = runs.map((_, r) => new Map(rows.filter(x => x.run === r && x.object >= 0).map(x => [x.object, x])));
  const length = Math.max(...runs.map(r => r.length), 0.001);

  const state = {
    from: 0, to: length, top: 0, // what is in view: seconds, and pixels of rows
    run: 0, event: -1, time: 0, row: null, // the cursor
    tab: 'object', find: '', real: false,
  };
  let visible = rows;

  const canvas = $('canvas');
  const pen = canvas.getContext('2d');
  const axis = 22, height = x => (x.points ? 30 : x.kind === 'Group' ? 22 : 17);
  let width = 0, tall = 0, names = 0;
  const colors = {};
  const readColors = () => {
    const style = getComputedStyle(document.documentElement);
    for (const c of ['paper', 'ink', 'soft', 'line', 'panel', 'bad', 'cursor', 'new', 'up', 'stay', 'warn', 'go', 'end', 'over']) {
      colors[c] = style.getPropertyValue('--' + c).trim();
    }
  };
  const fill = {
    'asked for': 'new', launched: 'new', pending: 'new', starting: 'new', 'not ready': 'new',
    registered: 'up', initialized: 'up', ready: 'up', running: 'up',
    drifted: 'warn', consolidatable: 'stay',
    disrupted: 'go', draining: 'go', 'being deleted': 'go', ending: 'go',
    drained: 'end', 'instance ending': 'end', ended: 'end', 'allows none': 'over',
  };

  const x = t => names + (t - state.from) / (state.to - state.from) * (width - names);
  const timeAt = px => state.from + (px - names) / (width - names) * (state.to - state.from);
  const shown = t => { // a time for people
    const speed = state.real && runs[state.run].speed || 1;
    const s = t / speed;
    return s < 60 ? `${s.toFixed(2)} s` : s < 3600 ? `${Math.floor(s / 60)} m ${(s % 60).toFixed(1)} s`
      : `${Math.floor(s / 3600)} h ${Math.floor(s % 3600 / 60)} m ${Math.floor(s % 60)} s`;
  };

  const text = (s, left, y, room, color = colors.ink) => {
    if (room < 12) return;
    pen.fillStyle = color;
    const per = 6.4; // about the width of a letter: measuring each text would cost more than it
    if (s.length * per > room) s = s.slice(0, Math.max(1, Math.floor(room / per) - 1)) + '…';
    pen.fillText(s, left, y);
  };

  const mark = (m, px, y) => {
    pen.fillStyle = ['warning', 'eviction', 'held'].includes(m.kind) ? colors.bad : colors.ink;
    pen.beginPath();
    if (m.kind === 'taint' || m.kind === 'held') pen.rect(px - 3, y - 3, 6, 6);
    else if (m.kind === 'warning') { pen.moveTo(px, y - 4); pen.lineTo(px + 4, y + 3); pen.lineTo(px - 4, y + 3); }
    else if (m.kind === 'eviction') { pen.moveTo(px - 4, y - 4); pen.lineTo(px + 4, y); pen.lineTo(px - 4, y + 4); }
    else pen.arc(px, y, 2.5, 0, 7);
    pen.fill();
  };

  const after = (list, t, of) => { // the first index whose time is at least t
    let low = 0, high = list.length;
    while (low < high) {
      const mid = (low + high) >> 1;
      if (of(list[mid]) < t) low = mid + 1; else high = mid;
    }
    return low;
  };

  const drawLane = (lane, y, h) => {
    for (const s of lane.spans || []) {
      if (s.to < state.from || s.from > state.to) continue;
      const left = Math.max(x(s.from), names), right = Math.min(x(s.to), width);
      pen.fillStyle = colors[fill[s.state] || 'stay'];
      pen.fillRect(left, y + 2, Math.max(right - left - 1, 1), h - 4);
      text(s.state, left + 4, y + h / 2 + 4, right - left - 8);
    }
    if (lane.points) drawPoints(lane, y, h);
    const marks = lane.marks || [];
    const last = {}; // by kind, so that a warning shows among others
    for (let i = after(marks, state.from, m => m.at); i < marks.length && marks[i].at <= state.to; i++) {
      const px = x(marks[i].at);
      if (px - last[marks[i].kind] < 2) continue; // they would lie on each other
      last[marks[i].kind] = px;
      mark(marks[i], px, y + h / 2);
    }
  };

  const drawPoints = (lane, y, h) => {
    const points = lane.points, most = Math.max(1e-9, ...points.map(p => Math.max(p.used, p.allowed)));
    const at = v => y + h - 3 - v / most * (h - 8);
    points.forEach((p, i) => {
      const end = i + 1 < points.length ? points[i + 1].at : runs[lane.run].length;
      if (end < state.from || p.at > state.to) return;
      const left = Math.max(x(p.at), names), right = Math.min(x(end), width);
      if (right <= left) return;
      const above = p.allowed >= 0 && p.used > p.allowed;
      pen.fillStyle = colors[above ? 'over' : 'stay'];
      pen.fillRect(left, at(p.used), right - left, y + h - 3 - at(p.used));
      if (p.allowed >= 0) { pen.fillStyle = colors.ink; pen.fillRect(left, at(p.allowed), right - left, 1.5); }
      text(p.allowed < 0 ? `${short(p.used)}, no bound` : `${short(p.used)} of ${short(p.allowed)}`, left + 4, y + h / 2 + 4, right - left - 8);
    });
  };
  const short = n => n >= 2 ** 30 ? `${+(n / 2 ** 30).toFixed(1)}Gi` : n >= 2 ** 20 ? `${+(n / 2 ** 20).toFixed(1)}Mi` : `${+n.toFixed(2)}`;

  const drawAxis = () => {
    pen.fillStyle = colors.panel;
    pen.fillRect(0, 0, width, axis);
    const about = (state.to - state.from) / Math.max(2, (width - names) / 90);
    const power = 10 ** Math.floor(Math.log10(about));
    const step = [1, 2, 5, 10].map(n => n * power).find(n => n >= about);
    for (let t = Math.ceil(state.from / step) * step; t <= state.to; t += step) {
      const px = x(t);
      pen.fillStyle = colors.line;
      pen.fillRect(px, axis - 5, 1, tall);
      text(shown(t), px + 3, 15, 86, colors.soft);
    }
  };

  const draw = () => {
    pen.setTransform(devicePixelRatio, 0, 0, devicePixelRatio, 0, 0);
    pen.fillStyle = colors.paper;
    pen.fillRect(0, 0, width, tall);
    pen.font = '12px system-ui, sans-serif';
    drawAxis();
    let y = axis - state.top;
    for (const lane of visible) {
      const h = height(lane);
      if (y + h > axis && y < tall) {
        pen.save();
        pen.beginPath();
        pen.rect(0, Math.max(y, axis), width, h);
        pen.clip();
        if (lane === state.row) { pen.fillStyle = colors.panel; pen.fillRect(0, y, width, h); }
        const inset = 6 + lane.depth * 12;
        const label = lane.kind === 'Group' ? lane.name : lane.object < 0 ? lane.name : `${lane.kind} ${lane.name}`;
        pen.font = lane.kind === 'Group' || lane.depth === 0 ? '600 12px system-ui, sans-serif' : '12px system-ui, sans-serif';
        text(label, inset, y + h / 2 + 4, names - inset - 4, lane.object < 0 ? colors.soft : colors.ink);
        pen.font = '12px system-ui, sans-serif';
        drawLane(lane, y, h);
        pen.restore();
      }
      y += h;
    }
    for (const run of runs) for (const b of run.breaches || []) {
      if (b.event < 0) continue;
      const px = x(run.events[b.event].at);
      if (px < names) continue;
      pen.fillStyle = colors.bad;
      pen.fillRect(px - 1, axis, 2, tall);
      text('✗', px + 3, axis + 12, 20, colors.bad);
    }
    const px = x(state.time);
    if (px >= names) { pen.fillStyle = colors.cursor; pen.fillRect(px - .75, 0, 1.5, tall); }
  };
  let asked = false;
  const redraw = () => {
    if (asked) return;
    asked = true;
    requestAnimationFrame(() => { asked = false; draw(); });
  };

  const total = () => visible.reduce((sum, lane) => sum + height(lane), 0);
  const clamp = () => {
    state.top = Math.max(0, Math.min(state.top, total() - (tall - axis)));
    const span = Math.max(.01, Math.min(state.to - state.from, length * 1.02));
    state.from = Math.max(-length * .01, Math.min(state.from, length * 1.01 - span));
    state.to = state.from + span;
  };

  // The panel.
  const item = (label, act, now, time) => {
    const li = document.createElement('li'), b = document.createElement('button');
    b.type = 'button';
    if (time !== undefined) {
      const t = document.createElement('time');
      t.textContent = shown(time);
      b.append(t);
    }
    b.append(label);
    b.addEventListener('click', act);
    li.append(b);
    if (now) li.className = 'now';
    return li;
  };
  const nameOf = o => `${o.kind} ${o.namespace ? o.namespace + '/' : ''}${o.name}`;

  const panels = {
    object() {
      const row = state.row, run = runs[state.run];
      const at = row && row.object >= 0 ? row.object : state.event >= 0 ? run.events[state.event].object : -1;
      if (at < 0) return 'Choose an object.';
      const object = run.objects[at], version = versionAt(object, state.event);
      if (version < 0) return `${nameOf(object)} isn't there yet.`;
      const pre = document.createElement('pre');
      const last = object.versions[version], event = run.events[last.event];
      const head = document.createElement('div');
      head.className = 'soft';
      head.textContent = `${nameOf(object)}, version ${version + 1} of ${object.versions.length}` +
        (last.gone ? ', deleted' : '') + (event ? `, since ${shown(event.at)}${event.by ? ', by ' + event.by : ''}` : ', from the start');
      pre.append(head);
      const was = version > 0 ? new Map(yaml(content(object, version - 1)).map(l => [l.path, l.text])) : null;
      const is = yaml(content(object, version));
      for (const line of is) {
        const span = document.createElement('span');
        span.textContent = line.text + '\n';
        if (was && was.get(line.path) !== line.text) span.className = 'changed';
        pre.append(span);
      }
      if (was) {
        const now = new Set(is.map(l => l.path));
        for (const [path, line] of was) if (!now.has(path)) {
          const span = document.createElement('span');
          span.className = 'gone';
          span.textContent = `${path.slice(1)}: ${line.trim()}\n`;
          pre.append(span);
        }
      }
      return pre;
    },
    events() {
      const list = document.createElement('ol'), events = runs[state.run].events || [];
      const first = Math.max(0, state.event - 60);
      events.slice(first, first + 200).forEach((e, i) => {
        const o = runs[state.run].objects[e.object];
        list.append(item(`${e.type} ${nameOf(o)}${e.what ? ': ' + e.what : ''}${e.by ? ' (' + e.by + ')' : ''}`,
          () => go(state.run, first + i), first + i === state.event, e.at));
      });
      return list;
    },
    world() {
      const list = document.createElement('ul'), run = runs[state.run];
      const there = run.objects.map((o, i) => ({o, i, v: versionAt(o, state.event)}))
        .filter(e => e.v >= 0 && !e.o.versions[e.v].gone && e.o.kind !== 'Event');
      there.sort((a, b) => a.o.kind.localeCompare(b.o.kind) || nameOf(a.o).localeCompare(nameOf(b.o)));
      for (const {o, i} of there) {
        const lane = laneOf[state.run].get(i);
        const span = lane && (lane.spans || []).find(s => s.from <= state.time && state.time < s.to);
        list.append(item(nameOf(o) + (span ? ': ' + span.state : ''), () => select(state.run, i), state.row === lane && lane));
      }
      return list;
    },
    log() {
      const list = document.createElement('ol'), notes = runs[state.run].logs || [];
      if (!notes.length) return 'The recording has no logs beside it.';
      const now = after(notes, state.time + 1e-9, n => n.at) - 1;
      const first = Math.max(0, now - 40);
      notes.slice(first, first + 120).forEach((n, i) => list.append(item(`${n.source}: ${n.text}`, () => moveTo(n.at), first + i === now, n.at)));
      return list;
    },
  };
  const show = () => {
    const run = runs[state.run], e = run.events[state.event];
    const moment = $('moment');
    moment.textContent = '';
    const b = document.createElement('b');
    b.textContent = shown(state.time);
    moment.append(b, e ? ` event ${state.event + 1} of ${run.events.length}: ${e.type} ${nameOf(run.objects[e.object])}${e.what ? ': ' + e.what : ''}` : ' the start');
    for (const breach of run.breaches || []) if (breach.event >= 0 && breach.event === state.event) {
      const p = document.createElement('span');
      p.className = 'breach';
      p.textContent = ` ✗ ${breach.text.split('\n')[0]}`;
      moment.append(p);
    }
    $('panel').replaceChildren(panels[state.tab]());
    const now = $('panel').querySelector('.now, .changed, .gone');
    if (now) now.scrollIntoView({block: 'center'});
    redraw();
  };

  // Moving.
  const reveal = () => {
    if (state.time < state.from || state.time > state.to) {
      const span = state.to - state.from;
      state.from = state.time - span / 2;
      state.to = state.from + span;
    }
    let y = 0;
    for (const lane of visible) {
      if (lane === state.row) {
        if (y < state.top) state.top = y;
        if (y + height(lane) > state.top + tall - axis) state.top = y + height(lane) - (tall - axis);
      }
      y += height(lane);
    }
    clamp();
  };
  const go = (run, event, keep) => { // to an event, and its object's lane
    state.run = run;
    state.event = Math.max(-1, Math.min(event, runs[run].events.length - 1));
    const e = runs[run].events[state.event];
    state.time = e ? e.at : 0;
    if (e && !keep) state.row = laneOf[run].get(e.object) || state.row;
    reveal();
    show();
  };
  const moveTo = t => {
    state.time = Math.max(0, Math.min(t, length));
    state.event = after(runs[state.run].events, state.time + 1e-9, e => e.at) - 1;
    reveal();
    show();
  };
  const select = (run, object) => {
    state.run = run;
    state.row = laneOf[run].get(object) || {run, object, kind: '', depth: 0, name: ''};
    state.tab = 'object';
    tabs();
    reveal();
    show();
  };
  const step = (by, match) => {
    const events = runs[state.run].events;
    for (let i = state.event + by; i >= 0 && i < events.length; i += by) if (match(events[i])) { go(state.run, i); return; }
  };
  const nextBreach = () => {
    const all = runs.flatMap((run, r) => (run.breaches || []).filter(b => b.event >= 0).map(b => ({r, event: b.event})));
    if (!all.length) return;
    const at = all.findIndex(b => b.r === state.run && b.event === state.event);
    const b = all[(at + 1) % all.length];
    go(b.r, b.event);
  };
  const zoom = (by, around = state.time >= state.from && state.time <= state.to ? state.time : (state.from + state.to) / 2) => {
    state.from = around - (around - state.from) * by;
    state.to = around + (state.to - around) * by;
    clamp();
    redraw();
  };
  const fit = () => { state.from = -length * .01; state.to = length * 1.01; clamp(); redraw(); };
  const tabs = () => { for (const b of document.querySelectorAll('.tab')) b.setAttribute('aria-pressed', b.dataset.tab === state.tab); };
  const filter = () => {
    const words = state.find.toLowerCase().split(/\s+/).filter(Boolean);
    visible = words.length ? rows.filter(r => words.every(w => `${r.kind} ${r.name} ${(r.marks || []).map(m => m.text).join(' ')}`.toLowerCase().includes(w))) : rows;
    clamp();
    redraw();
  };

  for (const b of document.querySelectorAll('.tab')) b.addEventListener('click', () => { state.tab = b.dataset.tab; tabs(); show(); });
  $('search').addEventListener('input', e => { state.find = e.target.value; filter(); });
  $('breach').addEventListener('click', nextBreach);
  $('breach').hidden = !runs.some(r => (r.breaches || []).some(b => b.event >= 0));
  $('fit').addEventListener('click', fit);
  $('in').addEventListener('click', () => zoom(.5));
  $('out').addEventListener('click', () => zoom(2));
  $('axis').hidden = !runs.some(r => r.speed);
  $('real').addEventListener('change', e => { state.real = e.target.checked; show(); });
  const help = () => { $('keys').hidden = !$('keys').hidden; $('help').setAttribute('aria-expanded', !$('keys').hidden); resize(); };
  $('help').addEventListener('click', help);

  document.addEventListener('keydown', e => {
    if (e.target.matches('input[type=search]')) {
      if (e.key === 'Escape') { e.target.value = state.find = ''; filter(); canvas.focus(); }
      return;
    }
    if (e.ctrlKey || e.metaKey) return;
    const current = runs[state.run].events[state.event];
    const object = state.row && state.row.object >= 0 ? state.row.object : current && current.object;
    const kindOf = ev => runs[state.run].objects[ev.object].kind;
    const match = e.shiftKey ? ev => ev.object === object : e.altKey && current ? ev => kindOf(ev) === kindOf(current) : () => true;
    const at = visible.indexOf(state.row);
    const keys = {
      ArrowRight: () => step(1, match), ArrowLeft: () => step(-1, match),
      ArrowDown: () => { state.row = visible[Math.min(at + 1, visible.length - 1)]; state.run = state.row.run; reveal(); show(); },
      ArrowUp: () => { state.row = visible[Math.max(at - 1, 0)]; state.run = state.row.run; reveal(); show(); },
      Home: () => go(state.run, -1), End: () => go(state.run, runs[state.run].events.length - 1),
      '+': () => zoom(.5), '=': () => zoom(.5), '-': () => zoom(2), 0: fit, b: nextBreach, '?': help,
      '/': () => $('search').focus(),
    };
    if (keys[e.key] && (document.activeElement !== $('panel') || !e.key.startsWith('Arrow') || e.key === 'ArrowLeft' || e.key === 'ArrowRight')) {
      e.preventDefault();
      keys[e.key]();
    }
  });

  const rowAt = py => {
    let y = axis - state.top;
    for (const lane of visible) {
      if (py >= Math.max(y, axis) && py < y + height(lane)) return lane;
      y += height(lane);
    }
    return null;
  };
  let drag = null;
  canvas.addEventListener('pointerdown', e => {
    canvas.setPointerCapture(e.pointerId);
    drag = {x: e.offsetX, y: e.offsetY, from: state.from, to: state.to, top: state.top, moved: false};
  });
  canvas.addEventListener('pointermove', e => {
    if (!drag) return;
    const dx = e.offsetX - drag.x, dy = e.offsetY - drag.y;
    if (!drag.moved && Math.hypot(dx, dy) < 4) return;
    drag.moved = true;
    const seconds = dx / (width - names) * (drag.to - drag.from);
    state.from = drag.from - seconds;
    state.to = drag.to - seconds;
    state.top = drag.top - dy;
    clamp();
    redraw();
  });
  canvas.addEventListener('pointerup', e => {
    const moved = drag && drag.moved;
    drag = null;
    if (moved) return;
    const lane = rowAt(e.offsetY);
    if (lane) { state.row = lane; state.run = lane.run; }
    if (lane && lane.kind === 'Log') { state.tab = 'log'; tabs(); }
    if (e.offsetX < names) { show(); return; }
    const t = timeAt(e.offsetX);
    const near = lane && (lane.marks || []).filter(m => Math.abs(x(m.at) - e.offsetX) < 6)
      .sort((a, b) => Math.abs(a.at - t) - Math.abs(b.at - t))[0];
    if (near && near.event >= 0) go(lane.run, near.event, true); else moveTo(t);
  });
  canvas.addEventListener('wheel', e => {
    e.preventDefault();
    if (e.ctrlKey) { zoom(1.0015 ** e.deltaY, timeAt(e.offsetX)); return; }
    const sideways = e.shiftKey ? e.deltaY : e.deltaX;
    const seconds = sideways / (width - names) * (state.to - state.from);
    state.from += seconds;
    state.to += seconds;
    if (!e.shiftKey) state.top += e.deltaY;
    clamp();
    redraw();
  }, {passive: false});

  const resize = () => {
    width = canvas.parentElement.clientWidth;
    tall = canvas.parentElement.clientHeight;
    names = Math.min(260, width * .38);
    canvas.width = width * devicePixelRatio;
    canvas.height = tall * devicePixelRatio;
    clamp();
    redraw();
  };
  new ResizeObserver(resize).observe(canvas.parentElement);
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => { readColors(); redraw(); });
  readColors();
  resize();
  fit();
  const first = runs.findIndex(r => (r.breaches || []).some(b => b.event >= 0));
  if (first >= 0) nextBreach(); else go(0, -1);
  document.documentElement.dataset.ready = 'true';
  window.timeline = {state, draw, runs}; // for tests, and for the curious
})();
