/** Walks every cell of the law of recovery (law.ts) once, with the tool that `kill-matrix.slow.test.ts` does not take. */
import { toolsOfFamily } from '../family-tools.ts';
import { processes } from './law.ts';
import { walkAndCheck } from './walk-and-check.ts';

const family = await toolsOfFamily();
const tool = family.findLast(({ skip }) => skip === false) ?? family[0];

if (tool) for (const killed of processes) walkAndCheck(tool, killed);
