/** A file as text: the bundler and the test runner load it so. */
declare module '*?raw' {
  const text: string;
  export default text;
}
