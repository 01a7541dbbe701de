// Loaded into the program by --require: notes what it writes, has put on the disk, and sends, in
// that order.
const fs = require('node:fs');
const { Socket } = require('node:net');
const { basename } = require('node:path');

const events = [];
const names = new Map();
const {
  openSync,
  writeSync,
  fsyncSync,
  fdatasyncSync,
  ftruncateSync,
  renameSync,
  rmSync,
  writeFileSync,
} = fs;

fs.openSync = (path, ...rest) => {
  const fd = openSync(path, ...rest);
  names.set(fd, basename(String(path)));
  return fd;
};
fs.writeSync = (fd, data, ...rest) => {
  const text = Buffer.isBuffer(data) ? data.toString() : String(data);
  if (names.has(fd))
    events.push(['write', names.get(fd), /"record":"[^"]*"/.exec(text)?.[0] ?? '']);
  return writeSync(fd, data, ...rest);
};
for (const [name, sync] of Object.entries({ fsyncSync, fdatasyncSync })) {
  fs[name] = (fd) => {
    sync(fd);
    events.push(['sync', names.get(fd) ?? '']);
  };
}
fs.ftruncateSync = (fd, size) => {
  events.push(['cut', names.get(fd) ?? '']);
  return ftruncateSync(fd, size);
};
fs.renameSync = (from, to) => {
  for (const [fd, name] of names) if (name === basename(from)) names.set(fd, basename(to));
  events.push(['rename', basename(from), basename(to)]);
  return renameSync(from, to);
};
fs.rmSync = (path, ...rest) => {
  rmSync(path, ...rest);
  events.push(['remove', basename(String(path))]);
};
const { write } = Socket.prototype;
Socket.prototype.write = function (data, ...rest) {
  const code = /[?&]code=([^&]*)/.exec(String(data))?.[1];
  if (code !== undefined) events.push(['send', code]);
  return write.call(this, data, ...rest);
};
const stderr = process.stderr.write;
process.stderr.write = function (data, ...rest) {
  events.push(['say', String(data)]);
  return stderr.call(this, data, ...rest);
};
process.on('exit', () => writeFileSync(process.env.DISK_LOG, JSON.stringify(events)));
