// What Lambda's runtime for Node.js does: takes events from the Runtime API, and posts what the handler returns.
const { handler } = await import('./out/index.mjs');
const invocations = `http://${process.env.AWS_LAMBDA_RUNTIME_API}/2018-06-01/runtime/invocation`;
for (;;) {
  const next = await fetch(`${invocations}/next`);
  const awsRequestId = next.headers.get('lambda-runtime-aws-request-id');
  const [kind, result] = await handler(await next.json(), { awsRequestId }).then(
    (value) => ['response', value],
    (error) => ['error', { errorMessage: error.message, errorType: error.name }],
  );
  await fetch(`${invocations}/${awsRequestId}/${kind}`, {
    method: 'POST',
    body: JSON.stringify(result),
  });
}
