// Loaded into the program by NODE_OPTIONS: the two deployments of the pages are a server on this
// machine.
const dns = require('node:dns');
const { syncBuiltinESMExports } = require('node:module');
const net = require('node:net');

const hosts = ['api.example.com', 'test.example.com'];

const { connect } = net.Socket.prototype;
net.Socket.prototype.connect = function (...args) {
  const [options, callback] = Array.isArray(args[0]) ? args[0] : args;
  if (!hosts.includes(options.host)) return connect.apply(this, args);
  return connect.call(
    this,
    { ...options, host: '127.0.0.1', port: process.env.TEST_PORT },
    callback,
  );
};

const { lookup } = dns;
dns.lookup = (name, ...rest) =>
  hosts.includes(name)
    ? rest.at(-1)(null, [{ address: '203.0.113.7', family: 4 }])
    : lookup(name, ...rest);
syncBuiltinESMExports();
