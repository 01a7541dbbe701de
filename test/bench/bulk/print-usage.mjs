// Imported into a program, has it say at its end how much memory and CPU time it took.
process.on('exit', () => {
  const { maxRSS, userCPUTime, systemCPUTime } = process.resourceUsage();
  process.stderr.write(`usage: ${maxRSS} kB, ${userCPUTime + systemCPUTime} us\n`);
});
