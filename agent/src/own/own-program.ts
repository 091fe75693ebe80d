/** The agent's program as the agent starts it for its other processes and threads. */
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The roles of the program besides the agent. */
export type ProgramRole = 'runner' | 'tree-server' | 'hcl-worker' | OwnTool;

/** Roles that are programs of tools: runs start them with their own rights. */
export type OwnTool = 'cloudformation' | 'unit-values';

const here = fileURLToPath(import.meta.url);

/** Absolute path of the program: `main.ts`, or a file of a bundle. */
export const ownProgram = fileURLToPath(new URL('../main.ts', import.meta.url));

/** Words that begin the arguments of Node when a run starts a tool of ours. */
export function ownToolArguments(name: string): string[] {
  return ['--disable-sigusr1', ownProgram, name];
}

/**
 * The files that a process of the program loads, with Node itself: its single file, the folder of its bundle,
 * or the folders of its modules. Other contents of a checkout, such as its data, are not included.
 */
export function programFiles(): string[] {
  if (here === ownProgram) return [process.execPath, ownProgram];
  if (!ownProgram.endsWith('.ts')) return [process.execPath, dirname(ownProgram)];
  const root = fileURLToPath(new URL('../../..', import.meta.url));
  const folders = ['agent', 'contract', 'guards', 'protocol', 'settings', 'node_modules'];
  return [process.execPath, join(root, 'package.json'), ...folders.map((folder) => join(root, folder))];
}
