/** For tests: service, agent and command line as people start them, from the bundle of the present sources. */
import { join } from 'node:path';
import { root } from '../tree/repository.ts';
import { entries, programOf } from './program-of.mjs';

const build = (entry: string) =>
  programOf(root, join(root, entry), (line) => process.stderr.write(`${line}\n`));

export const serverProgram = await build(entries.server);
export const agentProgram = await build(entries.agent);
export const cliProgram = await build(entries.envarium);
