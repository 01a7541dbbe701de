// As a server is built that is deployed without node_modules.
export default { ssr: { noExternal: true } };
