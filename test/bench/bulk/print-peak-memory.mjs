// Imported into a program, has it say at its end how much memory it took at the most.
process.on('exit', () => {
  process.stderr.write(`peak memory ${process.resourceUsage().maxRSS} kB\n`);
});
