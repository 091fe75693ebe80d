/** For tests: whether the users of runs can start a program of the agent. */
import { dirname } from 'node:path';
import { agentProgram } from '../../../tools/programs/built-programs.ts';
import { closedFolder } from '../../src/processes/closed-folder.ts';

/** Options of tests whose runs start a program of the agent as the user of their slot. */
export const withOwnProgram = {
  skip:
    process.getuid?.() === 0 &&
    [agentProgram, process.execPath].some((file) => closedFolder(dirname(file)) !== null)
      ? 'needs a checkout that other users can read'
      : false,
} as const;
