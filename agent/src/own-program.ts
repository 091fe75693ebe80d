/** The agent's program as it starts itself, for the processes and threads beside it. */
import { fileURLToPath } from 'node:url';

/** What the program can be beside the agent. */
export type Role = 'runner' | 'tree-server' | 'hcl-worker';

const here = import.meta.url;

/** Absolute path of the program: `main.ts`, or the one file of a bundle, which holds every module. */
export const ownProgram = fileURLToPath(here.endsWith('/own-program.ts') ? new URL('./main.ts', here) : here);
