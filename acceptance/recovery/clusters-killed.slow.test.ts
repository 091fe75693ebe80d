/** Deployments to a cluster: what `clusters-killed.test.ts` does not kill. */
import { killInClusters } from './clusters-killed.ts';

killInClusters(['runner', 'server']);
