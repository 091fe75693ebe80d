/** Updates of Pulumi: the tool itself, and the agent. */
import { killPulumi } from './pulumi-killed.ts';

killPulumi(['tool', 'agent']);
