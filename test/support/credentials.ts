/** The credentials of clients whose server does not check them. */
export const credentials = {
  tenantCode: 'acme',
  channel: 'web',
  appKey: 'app-1',
  appSecret: 'do-not-show-me',
};
