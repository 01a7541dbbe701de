// Property tests look elsewhere at each run. Where a run has to be the same again, a variable says what is drawn.
const seed = process.env.USERINFO_TEST_SEED;
if (seed !== undefined) {
  const { configureGlobal } = await import('fast-check');
  configureGlobal({ seed: Number(seed) });
}
