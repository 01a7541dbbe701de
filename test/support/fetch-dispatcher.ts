import type { Dispatcher } from 'undici';

/** A dispatcher for a UserInfoClient that sends by the global fetch. docs/testing.md shows the same. */
export function fetchDispatcher(): Dispatcher {
  const dispatch: Dispatcher['dispatch'] = ({ origin, path, method, headers, body }, handler) => {
    const ended = new AbortController();
    const controller = { abort: (reason: Error) => ended.abort(reason), pause() {}, resume() {} } as never;
    const list = headers as string[];
    const pairs = list.flatMap((name, at) =>
      at % 2 === 0 ? [[name, list[at + 1]] as [string, string]] : [],
    );
    handler.onRequestStart?.(controller, {});
    fetch(`${origin}${path}`, { method, headers: pairs, body: body as string | null, signal: ended.signal })
      .then(async (response) => {
        const received = Object.fromEntries(response.headers);
        handler.onResponseStart?.(controller, response.status, received);
        handler.onResponseData?.(controller, Buffer.from(await response.arrayBuffer()));
        handler.onResponseEnd?.(controller, {});
      })
      .catch((error) => handler.onResponseError?.(controller, error));
    return true;
  };
  return { dispatch } as Dispatcher;
}
