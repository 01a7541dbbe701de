import type { Dispatcher } from '../../../src/index.js';

/**
 * A dispatcher for a UserInfoClient that sends by the global fetch. docs/testing.md shows the same.
 */
export function fetchDispatcher(): Dispatcher {
  return {
    dispatch({ origin, path, method, headers, body }, handler) {
      const ended = new AbortController();
      const controller = { abort: (reason: Error) => ended.abort(reason) };
      const pairs = headers.flatMap((name, at) =>
        at % 2 === 0 ? [[name, `${headers[at + 1]}`]] : [],
      );
      handler.onRequestStart(controller, {});
      fetch(origin + path, {
        method,
        headers: pairs as [string, string][],
        body,
        signal: ended.signal,
      })
        .then(async (response) => {
          handler.onResponseStart(
            controller,
            response.status,
            Object.fromEntries(response.headers),
          );
          handler.onResponseData(controller, new Uint8Array(await response.arrayBuffer()));
          handler.onResponseEnd(controller, {});
        })
        .catch((error) => handler.onResponseError(controller, error));
      return true;
    },
  };
}
