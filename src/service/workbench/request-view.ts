import { empty, type Html, html } from './html.js';
import type { RecentRequest } from './request-ring.js';
import { stagesView } from './stages-view.js';

/** Requests as rows of the table, each in a body of its own. Only the first rejected signature is shown open. */
export function requestsView(requests: readonly RecentRequest[]): Html {
  const newest = requests.find(({ rejection }) => rejection !== null);
  return html`${requests.map((request) => requestView(request, request === newest))}`;
}

function requestView({ serial, time, event, rejection }: RecentRequest, isOpen: boolean): Html {
  const { operation, app_key, tenant_code, status, code, msg, ms } = event;
  const at = new Date(time).toISOString();
  const tenant = tenant_code === null ? empty : html` <small>${tenant_code}</small>`;
  const why =
    rejection === null
      ? empty
      : html`<tr class="why"><td colspan="5">${stagesView(rejection, isOpen)}</td></tr>`;
  return html`<tbody class="${kindOf(status)}" data-serial="${serial}">
<tr><td class="time"><time datetime="${at}">${at.slice(11, 23)}</time></td><th scope="row">${operation}</th><td>${
    app_key ?? '–'
  }${tenant}</td><td><strong class="code">${code}</strong> ${msg}</td><td class="ms">${ms}</td></tr>
${why}</tbody>
`;
}

function kindOf(status: number): 'ok' | 'refused' | 'fault' {
  if (status < 400) return 'ok';
  return status < 500 ? 'refused' : 'fault';
}
