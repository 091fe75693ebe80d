/** The agent's program as the agent starts it for its other processes and threads. */
import { fileURLToPath } from 'node:url';

/** The roles of the program besides the agent. */
export type Role = 'runner' | 'tree-server' | 'hcl-worker';

const here = import.meta.url;

/** Absolute path of the program: `main.ts`, or the single file of a bundle, which contains every module. */
export const ownProgram = fileURLToPath(here.endsWith('/own-program.ts') ? new URL('./main.ts', here) : here);
