/** `npm run format [-- path …]`: brings files into the one form, imports in order. */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { root } from './tree/repository.ts';

const paths = process.argv.slice(2);
const script = join(root, 'node_modules', '@biomejs', 'biome', 'bin', 'biome');
const { status } = spawnSync(
  process.execPath,
  [script, 'check', '--write', '--', ...(paths.length > 0 ? paths : ['.'])],
  {
    cwd: root,
    stdio: 'inherit',
  },
);
process.exitCode = status ?? 1;
