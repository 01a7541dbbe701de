// Both formats in one process, as in a program of which one library loads the other one.
const required = require('userinfo-exchange');

void import('userinfo-exchange').then((imported) => {
  const options = { baseUrl: 'http://127.0.0.1:1', tenantCode: 't', channel: 'c', appKey: 'k' };
  const moment = { random: () => '0123456789abcdef', now: () => 1_700_000_000_000 };
  const urlBy = (appSecret) =>
    new imported.UserInfoClient({ ...options, ...moment, appSecret }).signRead({ code: 'c' }).url
      .href;
  const secret = new required.Secret('s');
  const facts = [
    required.UserInfoClient !== imported.UserInfoClient,
    secret instanceof imported.Secret,
    new required.InvalidInputError('x') instanceof imported.InvalidInputError,
    new required.InvalidInputError('x') instanceof imported.UserInfoError,
    !(new required.InvalidInputError('x') instanceof imported.RejectedError),
    urlBy(secret) === urlBy('s'),
  ];
  process.stdout.write(`${facts.join(' ')}\n`);
});
