/** Follows new requests, filters them, opens rows, copies commands, and shows local times. */
export const script = `
const get = (id) => document.getElementById(id);
const table = get('requests');
const filter = get('filter');
const onlyRefused = get('only-refused');
const pause = get('pause');
const { run, kept } = table.dataset;

function say(text) {
  if (get('state').textContent !== text) get('state').textContent = text;
}

function applyFilters() {
  const words = filter.value.toLowerCase().split(/\\s+/);
  const rows = [...table.tBodies];
  const refused = rows.filter((row) => !row.classList.contains('ok'));
  for (const row of rows) {
    const text = row.textContent.toLowerCase();
    row.hidden = (onlyRefused.checked && row.classList.contains('ok')) || !words.every((word) => text.includes(word));
  }
  const shown = rows.filter((row) => !row.hidden).length;
  get('count').textContent = shown === rows.length ? shown : shown + ' of ' + rows.length;
  const codes = Object.groupBy(refused, (row) => row.querySelector('.code').textContent);
  const counts = Object.entries(codes).sort(([, one], [, other]) => other.length - one.length).map(([code, { length }]) => code + ' × ' + length);
  get('refused').textContent = refused.length + ' refused' + (counts.length > 0 ? ': ' + counts.join(', ') : '');
  get('no-match').hidden = shown > 0 || rows.length === 0;
  document.title = (refused.length > 0 ? '(' + refused.length + ') ' : '') + 'userinfo: requests';
}

function prepare(rows) {
  for (const row of rows) {
    const time = row.querySelector('time');
    time.title = time.textContent + ' UTC';
    time.textContent = new Date(time.dateTime).toLocaleTimeString();
    const button = document.createElement('button');
    const operation = row.querySelector('th');
    button.className = 'open';
    button.setAttribute('aria-expanded', row.querySelector('details').open);
    button.append(...operation.childNodes);
    operation.append(button);
  }
}

function show(rows) {
  const known = table.tBodies.length;
  table.tHead.insertAdjacentHTML('afterend', rows);
  prepare([...table.tBodies].slice(0, table.tBodies.length - known));
  while (table.tBodies.length > kept) table.tBodies[kept].remove();
  get('none').hidden = true;
  applyFilters();
}

async function copy(button) {
  const text = button.previousElementSibling;
  getSelection().selectAllChildren(text);
  await navigator.clipboard?.writeText(text.textContent).catch(() => document.execCommand('copy'));
  button.textContent = 'Copied';
  setTimeout(() => { button.textContent = 'Copy'; }, 1500);
}

async function look() {
  const after = table.tBodies[0]?.dataset.serial ?? 0;
  const answer = await fetch('/?' + new URLSearchParams({ run, after }), { cache: 'no-store' });
  if (answer.status === 205) location.reload();
  else if (answer.status === 200) show(await answer.text());
  else if (answer.status !== 204) throw new Error('not the workbench');
  say('Live');
}

async function follow() {
  const isPaused = pause.getAttribute('aria-pressed') === 'true';
  if (isPaused) say('Paused');
  else if (!document.hidden) await look().catch(() => say('The service does not answer: trying again'));
  setTimeout(follow, 1000);
}

document.documentElement.className = 'live';
pause.hidden = filter.hidden = false;
pause.addEventListener('click', () => {
  const isPaused = pause.getAttribute('aria-pressed') !== 'true';
  pause.setAttribute('aria-pressed', isPaused);
  say(isPaused ? 'Paused' : 'Live');
});
filter.addEventListener('input', applyFilters);
onlyRefused.addEventListener('change', applyFilters);
document.addEventListener('click', ({ target }) => {
  if (target.classList.contains('copy')) copy(target);
  else if (getSelection().isCollapsed) {
    const details = target.closest('#requests > tbody > tr:first-child')?.parentElement.querySelector('details');
    if (details) details.open = !details.open;
  }
});
table.addEventListener('toggle', ({ target }) => {
  target.closest('tbody').querySelector('.open')?.setAttribute('aria-expanded', target.open);
}, true);
prepare(table.tBodies);
applyFilters();
follow();
`;

/** Light or dark, as the reader's system prefers. */
export const style = `
:root {
  color-scheme: light dark;
  --page: #f6f7f9; --card: #fff; --line: #dfe3e8; --text: #1c2128; --soft: #57606a; --accent: #0b57d0;
  --ok: #0f6b3a; --ok-back: #dff3e6; --refused: #a4161a; --refused-back: #fde4e3; --fault: #7a4100; --fault-back: #ffe9c7;
  --well: #f3f5f7; --mark: #a4161a; --mark-text: #fff;
}
@media (prefers-color-scheme: dark) {
  :root {
    --page: #0f1318; --card: #171c23; --line: #2b323c; --text: #e4e8ee; --soft: #9aa5b1; --accent: #8ab4f8;
    --ok: #7ee2a8; --ok-back: #12351f; --refused: #ffaca5; --refused-back: #46191b; --fault: #ffcf85; --fault-back: #43300f;
    --well: #10151b; --mark: #ffaca5; --mark-text: #2a0707;
  }
}
* { box-sizing: border-box; }
body { margin: 0; background: var(--page); color: var(--text); font: 15px/1.5 system-ui, sans-serif; }
header { display: flex; flex-wrap: wrap; align-items: center; gap: .5rem 1.5rem; padding: .9rem max(1.25rem, calc(50vw - 38rem)); background: var(--card); border-bottom: 1px solid var(--line); position: sticky; top: 0; z-index: 1; }
h1 { margin: 0; font-size: 1.15rem; letter-spacing: -.01em; }
h1 span, .counts, small { color: var(--soft); font-weight: 400; }
.counts, .controls { margin: 0; font-variant-numeric: tabular-nums; }
.controls { display: flex; flex-wrap: wrap; align-items: center; gap: 1rem; margin-left: auto; }
label { cursor: pointer; }
input[type=checkbox] { accent-color: var(--accent); margin: 0 .3rem 0 0; vertical-align: -.1em; }
input[type=search] { font: inherit; color: inherit; background: var(--well); border: 1px solid var(--line); border-radius: 6px; padding: .15rem .6rem; width: 11rem; }
button { font: inherit; color: inherit; background: var(--well); border: 1px solid var(--line); border-radius: 6px; padding: .15rem .8rem; cursor: pointer; }
button[aria-pressed=true] { color: var(--card); background: var(--accent); border-color: var(--accent); }
button:hover { border-color: var(--accent); }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; border-radius: 4px; }
#state { color: var(--soft); }
main { max-width: 78.5rem; margin: 0 auto; padding: 1rem 1.25rem 3rem; }
#requests { width: 100%; border-collapse: separate; border-spacing: 0; background: var(--card); border: 1px solid var(--line); border-radius: 10px; }
#requests > caption { text-align: left; color: var(--soft); padding: 0 0 .6rem; }
#requests > thead th { text-align: left; font-size: .85rem; color: var(--soft); font-weight: 600; }
#requests > * > tr > * { padding: .5rem .9rem; border-bottom: 1px solid var(--line); text-align: left; vertical-align: baseline; overflow-wrap: anywhere; }
#requests > tbody:last-child > tr:last-child > *, #requests > tbody > tr:has(+ .more) > * { border-bottom: 0; }
.live #requests > tbody > tr:first-child { cursor: pointer; }
.live #requests > tbody > tr:first-child:hover > * { background: var(--well); }
.live .more:not(.why):not(:has([open])) { display: none; }
.live #requests > tbody > tr:has(+ .more:not(.why):not(:has([open]))) > * { border-bottom: 1px solid var(--line); }
.live thead small, html:not(.live) .copy { display: none; }
button.open { background: none; border: 0; padding: 0; font-weight: inherit; text-align: left; }
button.open::before { content: "▸"; display: inline-block; width: 1.1em; color: var(--soft); }
button.open[aria-expanded=true]::before { content: "▾"; }
#requests > tbody > tr > th { font-weight: 600; }
#requests:not(:has(tbody)) { display: none; }
#requests .time { width: 8rem; }
.time, .ms { font-variant-numeric: tabular-nums; white-space: nowrap; color: var(--soft); }
#requests .ms { text-align: right; }
.code { display: inline-block; padding: 0 .5em; margin-right: .35em; border-radius: 5px; font-variant-numeric: tabular-nums; color: var(--ok); background: var(--ok-back); }
.refused .code { color: var(--refused); background: var(--refused-back); }
.fault .code { color: var(--fault); background: var(--fault-back); }
body:has(#only-refused:checked) tbody.ok { display: none; }
#requests > tbody > .more > td { padding: 0 .9rem .9rem; }
details { background: var(--well); border: 1px solid var(--line); border-left: 3px solid var(--line); border-radius: 6px; }
tbody:not(.ok) details { border-left-color: var(--refused); }
summary { padding: .45rem .8rem; cursor: pointer; }
.command { display: flex; align-items: center; gap: .6rem; margin: .2rem .8rem .6rem; }
.command code { background: var(--card); border: 1px solid var(--line); border-radius: 6px; padding: .2rem .6rem; }
.command code::before { content: "$ "; color: var(--soft); }
.sent { width: 100%; border-collapse: collapse; }
.sent caption { text-align: left; padding: .3rem .8rem; color: var(--soft); }
.sent th, .sent td { padding: .25rem .8rem; border-top: 1px solid var(--line); text-align: left; vertical-align: baseline; }
.sent th { width: 11.5rem; font-size: .85rem; font-weight: 600; overflow-wrap: anywhere; }
.advice { margin: 0 .8rem .5rem; color: var(--soft); }
.stages { width: 100%; border-collapse: collapse; table-layout: fixed; }
.stages caption { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
.stages th, .stages td { padding: .5rem .8rem; border-top: 1px solid var(--line); text-align: left; vertical-align: top; }
.stages th { font-size: .85rem; font-weight: 600; }
.stages th small { display: block; font-size: .8rem; }
.stages th:first-child { width: 11.5rem; }
code { font: 13px/1.55 ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace; word-break: break-all; white-space: break-spaces; }
mark { color: var(--mark-text); background: var(--mark); border-radius: 2px; padding: 0 1px; font-weight: 700; }
mark.end::before { content: "⏎"; }
.unknown { color: var(--soft); font-style: italic; }
#none { background: var(--card); border: 1px solid var(--line); border-radius: 10px; padding: 1.5rem; }
#none h2 { margin: 0 0 .5rem; font-size: 1.1rem; }
#none .command { margin-left: 0; }
[hidden] { display: none !important; }
@media (max-width: 48rem) {
  #requests > thead { display: none; }
  #requests > tbody > tr:first-child { display: flex; flex-wrap: wrap; gap: .1rem .8rem; padding: .5rem .9rem; border-bottom: 1px solid var(--line); }
  #requests > tbody > tr:has(+ .more) { border-bottom: 0; }
  .live #requests > tbody > tr:has(+ .more:not(.why):not(:has([open]))) { border-bottom: 1px solid var(--line); }
  .live #requests > tbody > tr:has(+ .more:not(.why):not(:has([open]))) > * { border-bottom: 0; }
  #requests > tbody > tr:first-child > * { padding: 0; border: 0; width: auto; }
  #requests .ms::after { content: " ms"; }
  #requests .more > td { display: block; }
  .sent th { width: 8rem; }
  .controls { margin-left: 0; }
  .stages, .stages tbody, .stages tr, .stages th, .stages td { display: block; width: 100%; }
  .stages th:first-child { width: 100%; }
  .stages thead { display: none; }
  .stages td { border-top: 0; padding-top: 0; }
  .stages td::before { content: "Received"; display: block; font-size: .8rem; color: var(--soft); }
  .stages th + td::before { content: "Expected"; }
}
@media (prefers-reduced-motion: no-preference) { #requests > tbody { animation: come .4s; } @keyframes come { from { opacity: .3; } } }
`;
