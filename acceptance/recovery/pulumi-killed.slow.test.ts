/** Updates of Pulumi: what `pulumi-killed.test.ts` does not kill. */
import { killPulumi } from './pulumi-killed.ts';

killPulumi(['runner', 'server']);
