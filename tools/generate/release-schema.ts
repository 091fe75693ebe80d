/** `npm run release-schema`: keeps the schema of this release, in which its servers must be able to write after later migrations. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { connect } from '../../server/src/ground/database/open.ts';
import { describeSchema } from '../../server/src/ground/database/released-schema.ts';
import { migratedTemplate, startTestServer } from '../../server/testing/database-server.ts';
import { root } from '../tree/repository.ts';

const file = 'server/src/ground/database/released-schema.json';

await using server = await startTestServer();
await using database = connect({ ...server.address, database: migratedTemplate });
const text = JSON.stringify(await describeSchema(database), null, 2);
// One line for each column.
const columns = text.replace(
  /\{\s+("type":[^{}]*?)\s+\}/g,
  (_, fields: string) => `{ ${fields.replace(/\s+/g, ' ')} }`,
);
writeFileSync(join(root, file), `${columns}\n`);
console.log(`${file} written`);
