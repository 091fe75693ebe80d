/** The agent's program as the agent starts it for its other processes and threads. */
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The roles of the program besides the agent. */
export type Role = 'runner' | 'tree-server' | 'hcl-worker';

const here = import.meta.url;

/** Absolute path of the program: `main.ts`, or the single file of a bundle, which contains every module. */
export const ownProgram = fileURLToPath(here.endsWith('/own-program.ts') ? new URL('./main.ts', here) : here);

/**
 * The files that a process of the program loads: Node itself, and the folders of its modules. Whatever else is
 * in the folder of a checkout, such as its data, is not among them.
 */
export function programFiles(): string[] {
  if (!here.endsWith('/own-program.ts')) return [process.execPath, ownProgram];
  const root = fileURLToPath(new URL('../..', here));
  const folders = ['agent', 'contract', 'guards', 'protocol', 'settings', 'node_modules'];
  return [process.execPath, join(root, 'package.json'), ...folders.map((folder) => join(root, folder))];
}
