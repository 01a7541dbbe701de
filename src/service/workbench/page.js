// Follows new requests, filters them, opens rows, copies commands, and shows local times.
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
  const words = filter.value.toLowerCase().split(/\s+/);
  const rows = [...table.tBodies];
  const refused = rows.filter((row) => !row.classList.contains('ok'));
  for (const row of rows) {
    const text = row.textContent.toLowerCase();
    row.hidden =
      (onlyRefused.checked && row.classList.contains('ok')) ||
      !words.every((word) => text.includes(word));
  }
  const shown = rows.filter((row) => !row.hidden).length;
  get('count').textContent = shown === rows.length ? shown : `${shown} of ${rows.length}`;
  const codes = Object.groupBy(refused, (row) => row.querySelector('.code').textContent);
  const counts = Object.entries(codes)
    .sort(([, one], [, other]) => other.length - one.length)
    .map(([code, { length }]) => `${code} × ${length}`);
  get('refused').textContent =
    `${refused.length} refused${counts.length > 0 ? `: ${counts.join(', ')}` : ''}`;
  get('no-match').hidden = shown > 0 || rows.length === 0;
  document.title = `${refused.length > 0 ? `(${refused.length}) ` : ''}userinfo: requests`;
}

function prepare(rows) {
  for (const row of rows) {
    const time = row.querySelector('time');
    time.title = `${time.textContent} UTC`;
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
  applyFilters();
}

async function copy(button) {
  const text = button.previousElementSibling;
  getSelection().selectAllChildren(text);
  await navigator.clipboard?.writeText(text.textContent).catch(() => document.execCommand('copy'));
  button.textContent = 'Copied';
  setTimeout(() => {
    button.textContent = 'Copy';
  }, 1500);
}

async function look() {
  const after = table.tBodies[0]?.dataset.serial ?? 0;
  const answer = await fetch(`/?${new URLSearchParams({ run, after })}`, { cache: 'no-store' });
  if (answer.status === 205) location.reload();
  else if (answer.status === 200) show(await answer.text());
  else if (answer.status !== 204) throw new Error('not the workbench');
  say('Live');
}

async function follow() {
  const isPaused = pause.getAttribute('aria-pressed') === 'true';
  if (isPaused) say('Paused');
  else if (!document.hidden)
    await look().catch(() => say('The service does not answer: trying again'));
  setTimeout(follow, 1000);
}

document.documentElement.className = 'live';
get('origin').textContent = location.origin;
for (const shown of [document.querySelector('.counts'), filter, pause]) shown.hidden = false;
pause.addEventListener('click', () => {
  const isPaused = pause.getAttribute('aria-pressed') !== 'true';
  pause.setAttribute('aria-pressed', isPaused);
  say(isPaused ? 'Paused' : 'Live');
});
filter.addEventListener('input', applyFilters);
onlyRefused.addEventListener('change', applyFilters);
document.addEventListener('click', ({ target }) => {
  if (target.classList.contains('copy')) void copy(target);
  else if (getSelection().isCollapsed) {
    const details = target
      .closest('#requests > tbody > tr:first-child')
      ?.parentElement.querySelector('details');
    if (details) details.open = !details.open;
  }
});
table.addEventListener(
  'toggle',
  ({ target }) => {
    target.closest('tbody').querySelector('.open')?.setAttribute('aria-expanded', target.open);
  },
  true,
);
prepare(table.tBodies);
applyFilters();
void follow();
