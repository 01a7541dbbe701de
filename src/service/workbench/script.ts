/** Follows the requests as they come, and keeps what the reader has opened as it is. */
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
