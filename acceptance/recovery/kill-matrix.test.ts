/** Walks every cell of the law of recovery (law.ts) once. */
import { toolsOfFamily } from '../programs.ts';
import { processes } from './law.ts';
import { walkAndCheck } from './walk-and-check.ts';

for (const tool of await toolsOfFamily()) for (const killed of processes) walkAndCheck(tool, killed);
