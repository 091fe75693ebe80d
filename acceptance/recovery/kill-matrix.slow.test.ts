/** Walks every cell of the law of recovery (law.ts) again and again: each kill hits another instruction. */
import { toolsOfFamily } from '../family-tools.ts';
import { processes } from './law.ts';
import { walkAndCheck } from './walk-and-check.ts';

const rounds = 20;

const [tool] = (await toolsOfFamily()).filter(({ skip }) => skip === false);
if (tool !== undefined)
  for (let round = 1; round <= rounds; round += 1)
    for (const killed of processes) walkAndCheck(tool, killed, `round ${round}`);
