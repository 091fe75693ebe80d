/** For tests: the programs of Pulumi in one folder. */
import { chmodSync, copyFileSync, existsSync, linkSync, mkdirSync, renameSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { toolboxFolder, toolboxProgram, withToolbox } from '../../../tools/toolbox/places.ts';

/** Options of tests that run Pulumi. */
export const withPulumi = withToolbox('pulumi', 'pulumi-language-yaml', 'pulumi-resource-file');

const names = ['pulumi', 'pulumi-language-yaml', 'pulumi-resource-file'] as const;

/**
 * A folder with Pulumi, its host of YAML and a provider of files next to each other, as in its release: Pulumi looks
 * for them there.
 */
export function pulumiFolder(): string {
  const programs = names.map((name) => toolboxProgram(name) ?? '');
  const known = programs.map((program) => dirname(dirname(program)).slice(-8)).join('-');
  const folder = join(toolboxFolder(), 'pulumi-release', known);
  if (existsSync(folder)) return folder;
  const unfinished = `${folder}.partial-${process.pid}`;
  mkdirSync(unfinished, { recursive: true, mode: 0o755 });
  for (const [at, program] of programs.entries()) place(program, join(unfinished, names[at] ?? ''));
  chmodSync(unfinished, 0o755);
  try {
    renameSync(unfinished, folder);
  } catch (error) {
    // Another test was faster.
    if (!existsSync(folder)) throw error;
  }
  return folder;
}

function place(program: string, to: string): void {
  try {
    linkSync(program, to);
  } catch {
    copyFileSync(program, to);
  }
}
