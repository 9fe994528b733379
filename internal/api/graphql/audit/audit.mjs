// Runs every public server audit against the URL in the first argument and
// prints one JSON line each: {"id","name","status","reason"}. Judging them is
// the caller's business.
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';

// The packages live in a cache folder, named by the second argument.
const require = createRequire(pathToFileURL(process.argv[3] + '/'));
const { auditServer } = require('graphql-http');

for (const { id, name, status, reason } of await auditServer({ url: process.argv[2] })) {
  console.log(JSON.stringify({ id, name, status, reason }));
}
