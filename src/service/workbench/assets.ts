/** Follows new requests, and keeps the details that the reader has opened. */
export const script = `
const table = document.getElementById('requests');
const none = document.getElementById('none');
const state = document.getElementById('state');
const pause = document.getElementById('pause');
const { run, kept } = table.dataset;

function say(text) {
  if (state.textContent !== text) state.textContent = text;
}

function show(rows) {
  table.tHead.insertAdjacentHTML('afterend', rows);
  while (table.tBodies.length > kept) table.tBodies[kept].remove();
  none.hidden = true;
  document.getElementById('count').textContent = table.tBodies.length;
  document.getElementById('refused').textContent = table.querySelectorAll(':scope > tbody:not(.ok)').length;
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

pause.hidden = false;
pause.addEventListener('click', () => {
  const isPaused = pause.getAttribute('aria-pressed') !== 'true';
  pause.setAttribute('aria-pressed', isPaused);
  say(isPaused ? 'Paused' : 'Live');
});
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
input { accent-color: var(--accent); margin: 0 .3rem 0 0; vertical-align: -.1em; }
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
#requests > tbody:last-child > tr:last-child > *, #requests > tbody > tr:has(+ .why) > * { border-bottom: 0; }
#requests > tbody > tr > th { font-weight: 600; }
#requests:not(:has(tbody)) { display: none; }
#requests .time { width: 8rem; }
.time, .ms { font-variant-numeric: tabular-nums; white-space: nowrap; color: var(--soft); }
#requests .ms { text-align: right; }
.code { display: inline-block; padding: 0 .5em; margin-right: .35em; border-radius: 5px; font-variant-numeric: tabular-nums; color: var(--ok); background: var(--ok-back); }
.refused .code { color: var(--refused); background: var(--refused-back); }
.fault .code { color: var(--fault); background: var(--fault-back); }
body:has(#only-refused:checked) tbody.ok { display: none; }
#requests > tbody > .why > td { padding: 0 .9rem .9rem; }
details { background: var(--well); border: 1px solid var(--line); border-left: 3px solid var(--refused); border-radius: 6px; }
summary { padding: .45rem .8rem; cursor: pointer; }
.advice code { white-space: nowrap; }
.advice { margin: 0 .8rem .5rem; color: var(--soft); }
.stages { width: 100%; border-collapse: collapse; table-layout: fixed; }
.stages caption { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
.stages th, .stages td { padding: .5rem .8rem; border-top: 1px solid var(--line); text-align: left; vertical-align: top; }
.stages th { font-size: .85rem; font-weight: 600; }
.stages th small { display: block; font-size: .8rem; }
.stages th:first-child { width: 11.5rem; }
code, pre { font: 13px/1.55 ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace; word-break: break-all; white-space: break-spaces; }
mark { color: var(--mark-text); background: var(--mark); border-radius: 2px; padding: 0 1px; font-weight: 700; }
mark.end::before { content: "⏎"; }
.unknown { color: var(--soft); font-style: italic; }
#none { background: var(--card); border: 1px solid var(--line); border-radius: 10px; padding: 1.5rem; }
#none h2 { margin: 0 0 .5rem; font-size: 1.1rem; }
#none pre { background: var(--well); border: 1px solid var(--line); border-radius: 6px; padding: .7rem .9rem; }
[hidden] { display: none !important; }
@media (max-width: 48rem) {
  #requests > thead { display: none; }
  #requests > tbody > tr:first-child { display: flex; flex-wrap: wrap; gap: .1rem .8rem; padding: .5rem .9rem; border-bottom: 1px solid var(--line); }
  #requests > tbody > tr:has(+ .why) { border-bottom: 0; }
  #requests > tbody > tr:first-child > * { padding: 0; border: 0; width: auto; }
  #requests .ms::after { content: " ms"; }
  #requests .why > td { display: block; }
  .stages, .stages tbody, .stages tr, .stages th, .stages td { display: block; width: 100%; }
  .stages th:first-child { width: 100%; }
  .stages thead { display: none; }
  .stages td { border-top: 0; padding-top: 0; }
  .stages td::before { content: "Received"; display: block; font-size: .8rem; color: var(--soft); }
  .stages th + td::before { content: "Expected"; }
}
@media (prefers-reduced-motion: no-preference) { #requests > tbody { animation: come .4s; } @keyframes come { from { opacity: .3; } } }
`;
