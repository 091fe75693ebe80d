/**
 * `npm run build`: what `npm start` would build at its first launch, for a checkout that the user of the service
 * cannot write.
 */
import { join } from 'node:path';
import { root } from '../tree/repository.ts';
import { entries, programOf } from './program-of.mjs';
import { webOf } from './web-of.mjs';

const server = join(root, entries.server);
const report = (line: string) => console.log(line);
const [program, web] = await Promise.all([programOf(root, server, report), webOf(root, report)]);
if (program === server || 'problem' in web) process.exitCode = 1;
else console.log('Programs and web interface are up to date.');
